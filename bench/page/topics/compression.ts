import type { Row } from "../results.ts";
import { say, span } from "../say.ts";
import { barRows, plotOf, type Topic } from "../topic.ts";

const TOPIC = "compression";

/** The CPU time that compressing a response adds to a request. */
export const compression: Topic = {
  title: "Compression of dynamic responses",
  scenarios: ["compression", "event_channel"],
  what:
    "The CPU time that compressing a response adds to a request, on the server alone: that of the usual middleware with " +
    "gzip divided by that of ours with each coding, in the same framework; Deno's own is compared with the same coding, " +
    "if it has that. The bytes of each are in `results/`: about as " +
    "many for all but Deno's own.",
  plots(results) {
    const groups = ["json", "page"].map((caption) => ({
      heading: caption === "json" ? "JSON of 18 KB" : "A page of 31 KB",
      rows: barRows(results, { topic: TOPIC, caption, value: (row) => row.number("the peer's / ours") }),
    }));
    return plotOf(results, {
      name: "compression",
      title: "Compression of dynamic responses",
      unit: "CPU time that the peer's gzip adds divided by what ours adds, on a logarithmic axis",
      topic: TOPIC,
    }, groups);
  },
  notes(results) {
    const ofChannels = (ask: (row: Row) => number | undefined): string | undefined =>
      span(["gzip", "zstd"].flatMap((coding) => results.numbers("event_channel", "", `channel, ${coding}`, ask)));
    return [
      say`An event channel with 10,000 subscribers takes ${
        ofChannels((row) => row.number("of plain's"))
      } of the CPU time
        of a plain server, which writes each event to each response, and ${
        ofChannels((row) => row.number("above plain"))
      } bytes of memory a subscriber more.`,
      "On Bun, `hono/compress` uses the runtime's own gzip, as ours does.",
      "Deno's `automaticCompression` uses gzip at a low level, for a third more bytes of JSON, and brotli at a higher one " +
      "than ours, for a tenth fewer.",
    ];
  },
};
