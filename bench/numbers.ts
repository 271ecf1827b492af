/**
 * Ten million primes to files of at most 16 MB, one number at a time: read from a file of 93 MB and parsed, from a
 * generator that is piped, and written in a loop; by our streams, `node:stream`, native ones and what the runtime has
 * of its own. Then the memory that ours take of up to a hundred million, and how large the batches of a slow sink are.
 *
 *   npm run bench -- numbers [--quick] [--filter REGEX] [--peers "ours,native"] [--rounds 5]
 *
 * Every round is a process of its own, on the runtime measured; they take turns, in changing order, and each counts
 * with its fastest round, from its first read until its last file is closed. The sieve that generators take their
 * numbers from is made before. "Scaled" is a hundredth of the job, times a hundred, once: that `_write` writes each
 * number to the file. Memory is the peak of the whole process, read from outside. The files of each round are compared,
 * by size and hash, with what they are to be. A contestant with other files gets no figure. 16 MB are 16,000,000 bytes.
 * `--quick` takes a million numbers and fewer rounds: for a look, not for the record. Only full runs are written to
 * results/. A checkout of Deno's standard library in DENO_STD_ROOT adds its line stream on Deno.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { Contestant, type Round, standings, standingsHead, takeTurns } from "./contest.ts";
import { corpusFolder } from "./corpus_folder.ts";
import { runMeasured } from "./measured_process.ts";
import type { BatchFigures } from "./numbers/batches.ts";
import { primesFile } from "./numbers/corpus.ts";
import { checkFiles } from "./numbers/expected_files.ts";
import { contestantsHere, jobs } from "./numbers/pipelines.ts";
import { sieveOf } from "./numbers/primes.ts";
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
const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
const million = 1e6;
const count = values.quick ? million : 10 * million;
const peers = values.peers?.split(",") ?? contestantsHere();
const wanted = new RegExp(values.filter, "i");
const MAX_FILE_SIZE = 16_000_000;
/** A `_write` for every number takes so long that it gets this part of the job, and its time is multiplied. */
const SCALE = 100;
const SLOW = "node:stream _write";

/** Runs a job once, in a separate process and a folder that is removed. */
async function play(job: string, name: string, numbers: number, ...options: readonly string[]): Promise<Round> {
  const input = await primesFile(numbers);
  await mkdir(corpusFolder, { recursive: true });
  const directory = await mkdtemp(join(corpusFolder, "numbers-"));
  try {
    const args = [job, name, input, String(numbers), String(MAX_FILE_SIZE), directory, ...options];
    const round = await runTimed(jobScript, args);
    await checkFiles(directory, input, MAX_FILE_SIZE);
    return round;
  } finally {
    await rm(directory, { recursive: true });
  }
}

function contestantOf(job: string, name: string): Contestant {
  if (name !== SLOW) return new Contestant(name, () => play(job, name, count));
  return new Contestant(`${name}, scaled`, async () => {
    const round = await play(job, name, count / SCALE);
    return { ...round, seconds: round.seconds * SCALE, cpu: round.cpu * SCALE };
  });
}

/** Returns the seconds of the sieve, which contestants with generators spend, too. */
function sieveSeconds(): string {
  const start = performance.now();
  sieveOf(count);
  return ((performance.now() - start) / 1000).toFixed(2);
}

async function contest(job: string): Promise<string> {
  const able = peers.filter((name) => job === "file to files" || !name.includes("TextLineStream"));
  const contestants = able.map((name) => contestantOf(job, name));
  await takeTurns(contestants, rounds);
  if (contestants.some(({ name, failure }) => name === "ours" && failure !== undefined)) process.exitCode = 1;
  const before = job === "file to files" ? "" : ` (sieved before, in ${sieveSeconds()} s)`;
  return `${count / million} million, ${job}${before}:\n\n${table(standingsHead, standings(contestants))}`;
}

async function memory(): Promise<string> {
  const rows: string[][] = [];
  const figures = new Map(Object.keys(jobs).map((job) => [job, [] as string[]]));
  const amounts = (values.quick ? [0.1, 1, 10] : [1, 10, 100]).map((amount) => amount * million);
  for (const amount of amounts) {
    for (const [job, row] of figures) {
      const { peakMemory } = await play(job, "ours", amount, "segments");
      row.push(String(Math.round(peakMemory)));
    }
  }
  for (const [job, row] of figures) rows.push([job, ...row]);
  const head = ["peak MiB of ours", ...amounts.map((amount) => `${amount / million} million`)];
  return `The generators sieve as they go here.\n\n${table(head, rows)}`;
}

async function batches(): Promise<string> {
  const { output } = await runMeasured(await bundled("bench/numbers/batches.ts"), [String(million)]);
  const figures = JSON.parse(output) as BatchFigures[];
  const rows = figures.map(({ producer, sink, batches, average, largest }) => [
    producer,
    sink,
    batches.toLocaleString("en"),
    Math.round(average).toLocaleString("en"),
    largest.toLocaleString("en"),
  ]);
  const head = ["producer of a million", "sink", "batches", "average", "largest"];
  return `Batches at a highWaterMark of 4,096:\n\n${table(head, rows)}`;
}

const sections: Record<string, () => Promise<string>> = {
  ...Object.fromEntries(Object.keys(jobs).map((job) => [job, () => contest(job)])),
  memory,
  batches,
};
const chosen = Object.keys(sections).filter((name) => wanted.test(name));
if (chosen.length === 0) {
  console.error(`no part matches "${values.filter}": they are ${Object.keys(sections).join("; ")}`);
  process.exit(2);
}
const jobScript = await bundled("bench/numbers/job.ts");
const parts: string[] = [];
for (const name of chosen) parts.push(await sections[name]());
const title = `numbers: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest of ${rounds} rounds.\n\n${parts.join("\n\n")}`;
const full = chosen.length === Object.keys(sections).length && values.peers === undefined && !values.quick;
if (full && process.exitCode !== 1) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
