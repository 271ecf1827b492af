import { drawBars } from "./bars.ts";
import { Results } from "./results.ts";
import { standingOn, whereBehind } from "./standing.ts";
import { RUNTIMES, type Section } from "./tables.ts";
import type { PlotFile, Topic } from "./topic.ts";
import { batches } from "./topics/batches.ts";
import { codecs } from "./topics/codecs.ts";
import { coldStart } from "./topics/cold_start.ts";
import { compression } from "./topics/compression.ts";
import { http } from "./topics/http.ts";
import { precompress } from "./topics/precompress.ts";
import { s3 } from "./topics/s3.ts";
import { staticFiles } from "./topics/static.ts";
import { streams } from "./topics/streams.ts";
import { upload } from "./topics/upload.ts";

const TOPICS: readonly Topic[] = [
  streams,
  batches,
  codecs,
  compression,
  precompress,
  staticFiles,
  upload,
  s3,
  http,
  coldStart,
];
const WIDTH = 120;
const HEAD = `# Benchmarks

<!-- Written by bench/draw.ts from bench/results, after each run of npm run bench: change bench/page/ instead. -->
`;
const INTRO = [
  "Ours beside its peers, each on Node, Bun and Deno: in one run, on one machine with two cores, in turns. All numbers and " +
  "plots here are drawn by code from `bench/results/`, which has the whole tables and the day, versions and machine of " +
  "each run.",
  "How to read the plots: unless one says otherwise, a bar is what the peer takes divided by what ours takes, so that right of " +
  "the line at 1 ours is ahead, and left of it behind. On a logarithmic axis twice as fast is as long as half as fast. " +
  "A few per cent are noise. Compare " +
  "ratios within one run, never times of two runs.",
];
const AGAIN = [
  "`npm run bench -- NAME` measures a scenario on the three runtimes, rewrites its files in `results/`, and draws this " +
  "page and its plots; `--only node` takes one runtime. The heads of the scripts in this folder tell what each does and takes.",
  "`node bench/draw.ts` draws all again from `results/` without measuring anything.",
];

/** Returns a paragraph in lines that the formatter leaves alone. */
function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(/ (?!\d+[.)] )/)) {
    const line = lines[lines.length - 1];
    if (line !== "" && line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}

/** Returns a table with padded columns, all but the first to the right. */
function paddedTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, i) => Math.max(3, ...rows.map((row) => row[i].length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join(" | ")} |`;
  const rule = widths.map((width, i) => i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`);
  return [line(rows[0]), `| ${rule.join(" | ")} |`, ...rows.slice(1).map(line)].join("\n");
}

/** Returns the standing of this package in each part; nothing if there are no parts. */
function overview(drawn: ReadonlyMap<Topic, PlotFile[]>): string[] {
  const rows = [...drawn].filter(([, plots]) => plots.some(({ isOurs }) => isOurs)).map(([{ title }, plots]) => {
    return [
      title,
      ...RUNTIMES.map((runtime) => {
        const standing = standingOn(runtime, plots);
        return standing === undefined ? "" : `${standing.ahead} / ${standing.even} / ${standing.behind}`;
      }),
    ];
  });
  if (rows.length === 0) return [];
  return [
    "How many bars of each part are ahead of the peer by more than 5%, about even, and behind by more than 5%:",
    paddedTable([["bars ahead / about even / behind", ...RUNTIMES], ...rows]),
  ];
}

function partOf({ title, what, scenarios, notes }: Topic, plots: readonly PlotFile[], results: Results): string[] {
  const behind = whereBehind(plots);
  return [
    `## ${title}`,
    wrapped(what),
    ...plots.map(({ name, plot }) => `![${plot.title}](plots/${name}.svg)`),
    ...notes(results).filter((note) => note !== undefined).map(wrapped),
    ...(behind.length === 0 ? [] : [paddedTable([["behind by more than 5%", ...RUNTIMES], ...behind])]),
    "Measured by:",
    ["```sh", ...scenarios.map((scenario) => `npm run bench -- ${scenario}`), "```"].join("\n"),
  ];
}

/**
 * Returns the page and its plots as files below `bench/`, by path; of topics that were not measured there is nothing.
 */
export function drawPage(sections: readonly Section[]): Map<string, string> {
  const results = new Results(sections);
  const all = TOPICS.map((topic) => [topic, topic.plots(results)] as const);
  const drawn = new Map(all.filter(([, plots]) => plots.length > 0));
  const files = new Map<string, string>();
  for (const { name, plot } of [...drawn.values()].flat()) files.set(`plots/${name}.svg`, drawBars(plot));
  const parts = [
    HEAD.trim(),
    ...INTRO.map(wrapped),
    ...overview(drawn),
    ...[...drawn].flatMap(([topic, plots]) => partOf(topic, plots, results)),
    "## Getting the figures again",
    ...AGAIN.map(wrapped),
  ];
  return files.set("README.md", `${parts.join("\n\n")}\n`);
}
