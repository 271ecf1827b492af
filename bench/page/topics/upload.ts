import type { BarRow } from "../bars.ts";
import type { Results, Row } from "../results.ts";
import { count, say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const MAIN = "200 x 15 MB";
const SCENARIOS = [["200 of 15 MB", MAIN], ["1,000 of 1 MB", "1,000 x 1 MB"], ["4 of 2 GB", "4 x 2 GB"]] as const;
const GROWTH = "Peak memory, 50 x 64 MB and 400 x 8 MB";
const HANDLER = "ours, handler";

/** Returns the reciprocal of a column of ratios: the usual way's figure divided by this package's. */
function againstUsual(results: Results, caption: string, name: string, nth: number): BarRow[] {
  return barRows(results, {
    topic: "upload",
    caption,
    value: (row) => row.name === name ? ratio(1, row.number("to usual", nth)) : undefined,
  });
}

function timeRows(results: Results, caption: string): BarRow[] {
  return [["saveBody(), last stored", "ours, saveBody", 0], ["handler, last stored", HANDLER, 0], [
    "handler, mean latency",
    HANDLER,
    1,
  ], ["handler, CPU", HANDLER, 2]].flatMap(([label, name, nth]) => {
    return againstUsual(results, caption, name as string, nth as number).map(({ bars }) => ({
      label: label as string,
      bars,
    }));
  });
}

/** Uploads that are stored in files. */
export const upload: Topic = {
  title: "Uploads",
  scenarios: ["upload"],
  what:
    "Uploads sent all at once and stored in files. Time, latency and CPU are each held against the best of 4 to 7 usual ways " +
    "that do not buffer, which need not be the same one, on the runtime's main server; memory against each way by itself. Files are " +
    "compared by SHA-256 after each round. A bar to the right means that ours takes less.",
  plots(results) {
    const peak = "peak MiB";
    const memory = barRows(results, {
      topic: "upload",
      caption: MAIN,
      value: (row) => row.name.startsWith("ours") ? undefined : ratio(row.number(peak), row.other(HANDLER, peak)),
      note: (row) => ` (${count(row.number(peak) ?? 0)} MiB)`,
    });
    const sides = ["ours takes more", "ours takes less"] as const;
    return [
      ...plotOf(
        results,
        {
          name: "upload_time",
          title: "Uploads: ours against the best usual way",
          unit: "Time or CPU of the best usual way divided by ours, on a logarithmic axis",
          topic: "upload",
          sides,
        },
        SCENARIOS.map(([heading, caption]) => ({ heading, rows: timeRows(results, caption) })),
      ),
      ...plotOf(
        results,
        {
          name: "upload_memory",
          title: "200 uploads of 15 MB: peak memory",
          unit: "Peak memory of each way divided by that of our handler, on a logarithmic axis",
          topic: "upload",
          sides,
        },
        [{ heading: "Peak memory", rows: memory }],
      ),
    ];
  },
  notes(results) {
    const handler = (caption: string, name: string, ask: (row: Row) => number | undefined) =>
      results.numbers("upload", caption, name, ask);
    const peaks = handler(MAIN, HANDLER, (row) => row.number("peak MiB"));
    const growth = handler(GROWTH, HANDLER, (row) => row.number("MiB an upload"));
    const small = ["ours, saveBody", HANDLER].flatMap((name) =>
      handler("1,000 x 1 MB", name, (row) => row.number("to usual"))
    );
    const fetch = ["ours, fetch: saveBody", "ours, fetch: handler"].flatMap((name) => {
      return handler(MAIN, name, (row) => row.number("to usual"));
    });
    const node = ["Bun", "Deno"].map((runtime) => {
      return results.row("upload", runtime, MAIN, "ours, node:http: handler")?.number("peak MiB");
    });
    return [
      say`Our handler takes ${span(peaks, count)} MiB for 200 uploads at a time; on \`node:http\` it takes ${
        node[0]
      } on Bun and ${node[1]} on Deno. From 50 uploads to 400 it grows by ${span(growth)} MiB an upload.`,
      "On Bun the usual way is `Bun.write()`, which ours goes by too.",
      say`With 1,000 files of 1 MB ours takes ${
        span(small)
      } of the usual time: each file gets its name when it is complete.`,
      say`Through Hono's adapter on Node, uploads take ${span(fetch)} of the usual time.`,
    ];
  },
};
