/**
 * Reads a gigabyte of CSV, a record at a time, and writes it again: by our streams, csv-parse with csv-stringify,
 * Papa Parse, and uDSV, which has no streams and gets the text of each chunk.
 *
 *   npm run bench -- csv [--quick] [--peers "ours,udsv"] [--rounds 3]
 *
 * Records have ten fields and about 100 bytes; a third of them have a quoted field. The job `read` counts records,
 * fields and characters; the job `copy` writes the records again, which must be the same bytes. Every round is a
 * process of its own, on the runtime measured; they take turns, in changing order, and each counts with its fastest
 * round. A contestant that takes over a minute plays once. Memory is the peak of the whole process, read from outside.
 * `--quick` takes 50 MB: for a look, not for the record. Only full runs are written to results/.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { Contestant, type Round, standings, standingsHead, takeTurns } from "./contest.ts";
import { corpusFolder } from "./corpus_folder.ts";
import { ordersFile } from "./csv/corpus.ts";
import { contestants as all, type CsvPipelines } from "./csv/pipelines.ts";
import { hashOf } from "./hash_of.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { runTimed } from "./timed_job.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? 3);
const size = values.quick ? 50_000_000 : 1_000_000_000;
const peers = values.peers?.split(",") ?? all;

const script = await bundled("bench/csv/job.ts", "external");
const input = await ordersFile(size);
/** The expected hash of each job's result: for a copy the input's, for a tally the first result's. */
const expected: Partial<Record<keyof CsvPipelines, string>> = { copy: await hashOf(input) };

async function play(job: keyof CsvPipelines, name: string): Promise<Round> {
  const directory = await mkdtemp(join(corpusFolder, "csv-"));
  try {
    const round = await runTimed(script, [job, name, input, directory]);
    const [file] = await readdir(directory);
    const hash = await hashOf(join(directory, file));
    expected[job] ??= hash;
    if (hash !== expected[job]) throw new TypeError("its result is another one");
    return round;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const parts: string[] = [];
let hasFailed = false;
for (const job of ["read", "copy"] as const) {
  const contestants = peers.map((name) => new Contestant(name, () => play(job, name)));
  await takeTurns(contestants, rounds);
  hasFailed ||= contestants.some(({ name, failure }) => name === "ours" && failure !== undefined);
  const title = job === "read" ? `${size / 1e6} MB read` : `${size / 1e6} MB read and written again`;
  parts.push(`${title}:\n\n${table(standingsHead, standings(contestants))}`);
}
if (hasFailed) process.exitCode = 1;
const title = `csv: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest of ${rounds} rounds.\n\n${parts.join("\n\n")}`;
if (!hasFailed && values.peers === undefined && !values.quick) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
