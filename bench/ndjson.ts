/**
 * Parses a gigabyte of NDJSON and writes it again, a record at a time: lines, `JSON.parse()`, `JSON.stringify()`, a
 * file; by this package's streams, `node:stream`, native ones and what the runtime has of its own.
 *
 *   npm run bench -- ndjson [--quick] [--peers "ours,native"] [--rounds 3]
 *
 * Every round is a process of its own, on the runtime measured; they take turns, in changing order, and each counts
 * with its fastest round. A contestant that takes over a minute plays once. Memory is the peak of the whole process,
 * read from outside. What a round wrote is compared with what was read, by hash; a contestant with another result gets
 * no figure. The last row does all of it in a loop without streams, which is about the least that it can take.
 * `--quick` takes 50 MB: for a look, not for the record. Only full runs are written to results/. A checkout of Deno's
 * standard library in DENO_STD_ROOT adds its line stream on Deno.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { Contestant, type Round, standings, standingsHead, takeTurns } from "./contest.ts";
import { corpusFolder } from "./corpus_folder.ts";
import { recordsFile } from "./ndjson/corpus.ts";
import { contestantsHere } from "./ndjson/pipelines.ts";
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
const peers = values.peers?.split(",") ?? contestantsHere();

const script = await bundled("bench/ndjson/job.ts");
const input = await recordsFile(size);
const expected = await hashOf(input);

async function play(name: string): Promise<Round> {
  const directory = await mkdtemp(join(corpusFolder, "ndjson-"));
  try {
    const round = await runTimed(script, [name, input, directory]);
    const files = await readdir(directory);
    if (files.length !== 1) throw new TypeError(`it wrote ${files.length} files instead of one`);
    if (await hashOf(join(directory, files[0])) !== expected) {
      throw new TypeError("it wrote something else than it read");
    }
    return round;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const contestants = peers.map((name) => new Contestant(name, () => play(name)));
await takeTurns(contestants, rounds);
const title = `ndjson: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. ${size / 1e6} MB parsed and written again. Fastest of ${rounds} rounds.\n\n${
  table(standingsHead, standings(contestants))
}`;
const failed = contestants.some(({ name, failure }) => name === "ours" && failure !== undefined);
if (failed) process.exitCode = 1;
if (!failed && values.peers === undefined && !values.quick) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
