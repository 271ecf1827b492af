/**
 * Our web streams beside those of several versions of a runtime, so that natives that gain on us are seen: the rows of
 * `streams`, ours over native, as a geometric mean for each group.
 *
 *   npm run bench -- stream_versions [--only node] [--versions 24.9.0,26.10.0] [--rounds 3]
 *
 * Versions are the oldest that the package supports, the one in `package-lock.json`, and the newest that npm has, canaries
 * and nightlies included where it has any; `--versions` names others. They are installed into
 * `node_modules/.cache/versions`. "native" is the speed of the version's own streams, over all rows, relative to the first
 * version's. Figures vary more than those of `streams`: measurements are short.
 */
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { Contestant } from "./streams/contestant.ts";
import type { Scenario } from "./streams/scenario.ts";
import { groups } from "./streams/scenarios.ts";
import { commandOf, versionsToCompare } from "./streams/versions.ts";

const { values } = parseArgs({
  options: { versions: { type: "string" }, rounds: { type: "string", default: "3" } },
});
const rounds = Number(values.rounds);
/** The target duration of a measurement, in milliseconds. */
const AIM = 30;
/** The ratio below which native leads; above it there may be noise. */
const EVEN = 0.95;

const [name] = runtimeName().split(" ");
const runtime = name.toLowerCase();
const versions = values.versions?.split(",") ?? versionsToCompare(runtime);
const commands = versions.map((version) => commandOf(runtime, version));

/** The rates of this package and of native streams in a row on one version; undefined if one failed. */
interface Pair {
  readonly ours: number | undefined;
  readonly native: number | undefined;
}

async function measure({ title }: Scenario): Promise<Pair[]> {
  const pairs = commands.map((command) => ["ours", "native"].map((name) => new Contestant(name, title, AIM, command)));
  const contestants = pairs.flat();
  for (const contestant of contestants) await contestant.ready();
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      await contestants[(turn + round) % contestants.length].measure();
    }
  }
  await Promise.all(contestants.map((contestant) => contestant.end()));
  return pairs.map(([ours, native]) => ({ ours: ours.rate, native: native.rate }));
}

function ratio(above: number | undefined, below: number | undefined): number[] {
  return above && below ? [above / below] : [];
}

function mean(ratios: readonly number[]): string {
  if (ratios.length === 0) return "-";
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length).toFixed(2);
}

const measured = new Map<string, Pair[][]>();
for (const [group, scenarios] of Object.entries(groups)) {
  const rows: Pair[][] = [];
  for (const scenario of scenarios) rows.push(await measure(scenario));
  measured.set(group, rows);
}
const all = [...measured.values()].flat();
const lines = versions.map((version, i) => {
  const overNative = (rows: readonly Pair[][]): number[] => rows.flatMap((row) => ratio(row[i].ours, row[i].native));
  const ratios = overNative(all);
  return [
    version,
    ...[...measured.values()].map((rows) => mean(overNative(rows))),
    mean(ratios),
    `${ratios.filter((ratio) => ratio < EVEN).length} of ${ratios.length}`,
    mean(all.flatMap((row) => ratio(row[i].native, row[0].native))),
  ];
});
const title = `stream versions: ${name}`;
const body = `${circumstances()}. Ours / native, geometric means; best of ${rounds} short rounds.\n\n${
  table([`${name}`, ...measured.keys(), "all", "native leads in", "native"], lines)
}`;
if (values.versions === undefined) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
