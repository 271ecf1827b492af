import { say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const INSTALLED = "Installed by";
/** The start of the caption of the packages installed from JSR. */
const FROM_JSR = `${INSTALLED} \`deno add jsr:`;

/** The time and memory an import adds to a process that does nothing else. */
export const coldStart: Topic = {
  title: "Cold start",
  scenarios: ["cold_start"],
  what:
    "What importing the package, installed as a consumer does, costs a process that does nothing else: milliseconds more " +
    "than an empty module's process takes. Shorter is better. Then the first `compress()` of a process, which " +
    "makes the codec ready, against `node:zlib`'s first call.",
  plots(results) {
    // If a runtime has several ways to install the package, only the bars of the first are drawn: on Deno, those of
    // npm.
    const imports = (caption: string) =>
      barRows(results, { topic: "cold start", caption, value: (row) => row.number("more than that") });
    const calls = barRows(results, {
      topic: "cold start",
      caption: INSTALLED,
      value: (row) => ratio(row.number("`node:zlib`"), row.number("`compress()`")),
      note: (row) => ` (${row.number("`compress()`")} ms)`,
    });
    const topic = "cold start";
    return [
      ...plotOf(
        results,
        {
          name: "cold_start",
          title: "What an import costs",
          unit: "Milliseconds more than an empty module; medians of processes in turns",
          topic,
          scale: "linear",
          line: 0,
          isOurs: false,
        },
        [{ heading: "The npm package, and peers", rows: imports(INSTALLED) }, {
          heading: "The JSR package",
          rows: imports(FROM_JSR),
        }],
      ),
      ...plotOf(
        results,
        {
          name: "cold_start_codecs",
          title: "The first compress() of a process",
          unit: "Time of node:zlib's first call divided by that of ours, on a logarithmic axis",
          topic,
        },
        [{ heading: "First compress()", rows: calls }],
      ),
    ];
  },
  notes(results) {
    const whole = results.numbers("cold start", INSTALLED, "an empty module", (row) => row.number("whole process"));
    return [say`The whole process of an empty module takes ${span(whole)} ms.`];
  },
};
