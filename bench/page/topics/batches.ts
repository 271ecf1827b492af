import type { BarGroup } from "../bars.ts";
import type { Results, Row } from "../results.ts";
import { count, say, span } from "../say.ts";
import { barRows, plotOf, ratio, type Topic } from "../topic.ts";

const NUMBERS = [
  ["Read from a file, parsed, written", "10 million, file to files"],
  ["From a generator that is piped", "10 million, generator to files"],
  ["Written in a loop", "10 million, writes to files"],
] as const;
const LINES = [
  ["A log of 1 GB, by lines", "1000 MB to"],
  ["10 million lines, parsed as numbers", "10 million lines to numbers"],
  ["10 million numbers, written as lines", "10 million numbers to lines"],
] as const;

const isOurs = (name: string): boolean => name.startsWith("ours");
const isLoop = (name: string): boolean => name.includes("for await");

/** Returns the time of a contestant divided by that of this package. */
function timesOurs(row: Row): number | undefined {
  return isOurs(row.name) || row.name.includes("scaled") ? undefined : ratio(row.number("s"), row.other("ours", "s"));
}

/** Returns the ratio to this package's fastest contestant of the same use: loops against loops. */
function timesLikeOurs(row: Row): number | undefined {
  if (isOurs(row.name)) return undefined;
  const ours = row.table.filter(({ name }) => isOurs(name) && isLoop(name) === isLoop(row.name));
  const times = ours.map((one) => one.number("s")).filter((time) => time !== undefined);
  return times.length === 0 ? undefined : ratio(row.number("s"), Math.min(...times));
}

function groupsOf(
  results: Results,
  topic: string,
  headings: readonly (readonly [string, string])[],
  value: typeof timesOurs,
): BarGroup[] {
  return headings.map(([heading, caption]) => ({ heading, rows: barRows(results, { topic, caption, value }) }));
}

function pages(results: Results): BarGroup[] {
  return ["100", "1"].map((connections) => ({
    heading: connections === "1" ? "1 connection" : `${connections} connections`,
    rows: barRows(results, {
      topic: "ssr",
      caption: "",
      label: ({ name }) => name.slice(connections.length + 2),
      value: ({ name, number }) => {
        return name.startsWith(`${connections}, `) && !name.endsWith(", native") ? number("to native") : undefined;
      },
    }),
  }));
}

/** Batched writers, lines, and a rendered page. */
export const batches: Topic = {
  title: "Batched writers, lines and pages",
  scenarios: ["numbers", "lines", "ssr"],
  what:
    "Ten million primes go to files of at most 16 MB, one number at a time; a log of a gigabyte is read by lines; a page of " +
    "4 KB, 40 chunks of text through three transforms, goes to a response. The peers are `node:stream` with a `_writev()` or a " +
    "buffer of its own, `node:readline`, deno std's `TextLineStream`, native streams, Bun's FileSink and Deno's FsFile. Each " +
    "round is a process of its own, or a server and its visitors; all take turns. Of lines, our `for await` is held against " +
    "theirs, and the faster of our pipes against the rest.",
  plots(results) {
    const time = "Time of the peer divided by ours, on a logarithmic axis";
    return [
      ...plotOf(
        results,
        { name: "numbers", title: "10 million numbers to files", unit: time, topic: "numbers" },
        groupsOf(results, "numbers", NUMBERS, timesOurs),
      ),
      ...plotOf(
        results,
        { name: "lines", title: "Lines and numbers as text", unit: time, topic: "lines" },
        groupsOf(results, "lines", LINES, timesLikeOurs),
      ),
      ...plotOf(
        results,
        {
          name: "ssr",
          title: "A rendered page through three transforms",
          unit: "Pages a second of each, divided by those of native streams",
          topic: "ssr",
          scale: "linear",
          sides: ["slower than native", "faster than native"],
          isOurs: false,
        },
        pages(results),
      ),
    ];
  },
  notes(results) {
    const memory = (column: string) =>
      span(results.numbers("numbers", "", "file to files", (row) => row.number(column)), count);
    const single = results.numbers("numbers", NUMBERS[0][1], "node:stream _write, scaled", (row) => row.number("s"));
    return [
      say`The job takes ${memory("10 million")} MiB for 10 million numbers, and ${
        memory("100 million")
      } for a hundred million.`,
      say`Left out of the plot, as it would leave no room for the rest: a \`_write()\` that writes each number by itself, which
        takes ${span(single, count)} s.`,
    ];
  },
};
