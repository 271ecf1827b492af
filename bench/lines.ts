/**
 * A log of a gigabyte read by lines, a file of numbers parsed, and numbers written as lines: by our streams,
 * `node:readline`, `TextLineStream` of Deno's standard library, and native streams with transforms written by hand.
 *
 *   npm run bench -- lines [--quick] [--filter REGEX] [--peers "ours,native"] [--rounds 3]
 *
 * Lines are of about 100 bytes. All consumers do the same: they count what arrives and add up its length, or the
 * numbers; a contestant with another count gets no figure. Every round is a process of its own, on the runtime
 * measured; they take turns, in changing order, and each counts with its fastest round. Memory is the peak of the whole
 * process, read from outside. `--quick` takes a twentieth of all: for a look, not for the record. Only full runs are
 * written to results/. `TextLineStream` comes from a checkout in DENO_STD_ROOT; without one it is left out.
 */
import { createReadStream } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { Contestant, standings, standingsHead, takeTurns } from "./contest.ts";
import { logFile } from "./lines/corpus.ts";
import { LINE_LENGTH } from "./lines/number_source.ts";
import { ableTo, contestantsHere, type Pipelines } from "./lines/pipelines.ts";
import { primesFile } from "./numbers/corpus.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { runTimed } from "./timed_job.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? 3);
const peers = values.peers?.split(",") ?? contestantsHere();
const wanted = new RegExp(values.filter, "i");
const part = values.quick ? 20 : 1;
const LOG_SIZE = 1e9 / part;
const COUNT = 1e7 / part;

interface Job {
  readonly name: keyof Pipelines;
  readonly title: string;
  readonly input: string;
  /** The count expected of each contestant. */
  readonly expected: string;
}

const makers: Readonly<Record<string, () => Promise<Job>>> = {
  async lines(): Promise<Job> {
    const input = await logFile(LOG_SIZE);
    const { lines, bytes } = await countedIn(input);
    const title = `${bytes / 1e6 | 0} MB to ${(lines / 1e6).toFixed(1)} million lines`;
    return { name: "lines", title, input, expected: `${lines} items, ${bytes - lines} in all` };
  },
  async numbers(): Promise<Job> {
    const input = await primesFile(COUNT);
    const { lines, sum } = await countedIn(input);
    const title = `${COUNT / 1e6} million lines to numbers`;
    return { name: "numbers", title, input, expected: `${lines} items, ${sum} in all` };
  },
  text(): Promise<Job> {
    const title = `${COUNT / 1e6} million numbers to lines`;
    return Promise.resolve({
      name: "text",
      title,
      input: String(COUNT),
      expected: `0 items, ${COUNT * LINE_LENGTH} in all`,
    });
  },
};

/** Counts an ASCII file's lines and bytes in a loop over its bytes, and sums its lines if they are digits. */
async function countedIn(path: string): Promise<{ lines: number; bytes: number; sum: number }> {
  const counts = { lines: 0, bytes: 0, sum: 0 };
  let value = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Uint8Array>) {
    counts.bytes += chunk.length;
    for (const byte of chunk) {
      if (byte !== 10) {
        value = value * 10 + byte - 48;
        continue;
      }
      counts.lines++;
      counts.sum += value;
      value = 0;
    }
  }
  return counts;
}

/** Returns the fastest time of other contestants, divided by the fastest of this package. */
function times(contestants: readonly Contestant[], of: RegExp): string {
  const fastest = (pattern: RegExp): number =>
    Math.min(...contestants.filter(({ name }) => pattern.test(name)).map(({ best }) => best ?? Infinity));
  const ratio = fastest(of) / fastest(/^ours/);
  return Number.isFinite(ratio) ? ratio.toFixed(2) : "-";
}

async function contest({ name, title, input, expected }: Job, script: string): Promise<string> {
  const contestants = ableTo(name, peers).map((peer) => {
    return new Contestant(peer, () => runTimed(script, [name, peer, input, expected]));
  });
  await takeTurns(contestants, rounds);
  if (contestants.some(({ name, failure }) => name.startsWith("ours") && failure !== undefined)) process.exitCode = 1;
  const ratios = Object.entries({ "node:readline": /^node/, "std TextLineStream": /^std/, native: /^native/ })
    .map(([peer, pattern]) => `${peer} ${times(contestants, pattern)}`);
  const note = `The fastest of each takes so many times as long as the fastest of ours: ${ratios.join(", ")}.`;
  return `${title}:\n\n${table(standingsHead, standings(contestants))}\n\n${note}`;
}

const chosen = Object.keys(makers).filter((name) => wanted.test(name));
if (chosen.length === 0) {
  console.error(`no part matches "${values.filter}": they are ${Object.keys(makers).join("; ")}`);
  process.exit(2);
}
const script = await bundled("bench/lines/job.ts");
const parts: string[] = [];
for (const name of chosen) parts.push(await contest(await makers[name](), script));
if (!contestantsHere().some((name) => name.startsWith("std"))) {
  parts.push("TextLineStream was left out: DENO_STD_ROOT names no checkout of Deno's standard library.");
}
const title = `lines: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest of ${rounds} rounds.\n\n${parts.join("\n\n")}`;
const full = chosen.length === Object.keys(makers).length && values.peers === undefined && !values.quick;
if (full && process.exitCode !== 1) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
