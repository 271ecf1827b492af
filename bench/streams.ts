/**
 * This package's web streams beside the runtime's own, fast-webstreams and web-streams-polyfill: chunks a millisecond.
 *
 *   npm run bench -- streams [--quick] [--filter REGEX] [--peers ours,native] [--rounds 15]
 *
 * Each implementation runs each scenario in a process of its own, and they take turns, in changing order; each counts
 * with its fastest round. V8's young objects have 16 MiB in all of them. Every round counts what arrives at the far
 * end, and a contestant that loses any of it gets no figure. `MILLRACE_FORMER=CHECKOUT ... --peers ours,former`
 * compares two versions of this package. `--quick` takes fewer and shorter rounds: for a look, not for the record. Only
 * full runs are written to results/.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { Contestant } from "./streams/contestant.ts";
import { peersHere } from "./streams/implementation.ts";
import type { Scenario } from "./streams/scenario.ts";
import { scenarios as allScenarios } from "./streams/scenarios.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 5 : 15));
/** The target duration of a measurement, in milliseconds. */
const aim = values.quick ? 30 : 60;
const peers = values.peers?.split(",") ?? peersHere();
const wanted = new RegExp(values.filter, "i");
const scenarios = allScenarios.filter(({ title }) => wanted.test(title));

/** A row of figures: each implementation's, and this package's relative to native and to the best alternative. */
interface Row {
  readonly scenario: Scenario;
  readonly contestants: readonly Contestant[];
  readonly toNative: number | undefined;
  readonly toBest: number | undefined;
}

async function run(scenario: Scenario): Promise<Row> {
  const contestants = peers.map((name) => new Contestant(name, scenario.title, aim));
  await Promise.all(contestants.map((contestant) => contestant.ready()));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      await contestants[(turn + round) % contestants.length].measure();
    }
  }
  await Promise.all(contestants.map((contestant) => contestant.end()));
  const ours = contestants.find(({ name }) => name === "ours");
  const others = contestants.filter((contestant) => contestant !== ours);
  const native = others.find(({ name }) => name === "native");
  if (ours?.failure !== undefined) process.exitCode = 1;
  return {
    scenario,
    contestants,
    toNative: ratio(ours?.rate, native?.rate),
    toBest: ratio(ours?.rate, Math.max(0, ...others.map(({ rate }) => rate ?? 0))),
  };
}

function ratio(rate: number | undefined, other: number | undefined): number | undefined {
  return rate && other ? rate / other : undefined;
}

function cells({ scenario, contestants, toNative, toBest }: Row): string[] {
  return [
    scenario.counted ? `${scenario.title} (${scenario.counted})` : scenario.title,
    ...contestants.map(figure),
    ...[toNative, toBest].map((ratio) => ratio?.toFixed(2) ?? "-"),
  ];
}

function figure({ rate, failure = "" }: Contestant): string {
  if (rate === undefined) return `fails: ${failure.replaceAll("|", "\\|")}`;
  return rate < 100 ? rate.toFixed(1) : Math.round(rate).toLocaleString("en");
}

function geometricMean(ratios: readonly (number | undefined)[]): string {
  const known = ratios.filter((ratio) => ratio !== undefined);
  if (known.length === 0) return "-";
  return Math.exp(known.reduce((sum, ratio) => sum + Math.log(ratio), 0) / known.length).toFixed(2);
}

if (scenarios.length === 0) {
  console.error(
    `no scenario matches "${values.filter}": the titles are ${allScenarios.map((s) => s.title).join("; ")}`,
  );
  process.exit(2);
}
const rows: Row[] = [];
for (const scenario of scenarios) {
  if (process.stderr.isTTY) process.stderr.write(`\r${rows.length + 1}/${scenarios.length} `);
  rows.push(await run(scenario));
}
const means = [rows.map(({ toNative }) => toNative), rows.map(({ toBest }) => toBest)].map(geometricMean);
const title = `streams: ${runtimeName().split(" ")[0]}`;
const body =
  `${circumstances()}. Chunks/ms, best of ${rounds} rounds, a young generation of 16 MiB in V8, freed memory kept; last columns: ours / native, ours / best peer.\n\n` +
  table(["", ...peers, "to native", "to best"], [
    ...rows.map(cells),
    ["geometric mean", ...peers.map(() => ""), ...means],
  ]);
const full = rows.length === allScenarios.length && values.peers === undefined && !values.quick;
if (full && peers.includes("ours")) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
