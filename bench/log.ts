/**
 * Ten million lines of a log, of 120 bytes each, from one producer that waits on backpressure, to files of at most 64
 * MB: by our series, the destination that loggers take, sonic-boom, pino-roll, rotating-file-stream,
 * `fs.createWriteStream()`, and what the runtime has of its own.
 *
 *   npm run bench -- log [--quick] [--rounds 1] [--peers "ours,sonic-boom"] [--without rotating-file-stream]
 *
 * Every round is a process of its own, on the runtime measured. The bytes of all files in order are compared with what
 * was written, by hash. A contestant that lost, doubled or mixed up a line gets no figure. Of each seventh call of
 * `write()` the time is taken. sonic-boom and `fs.createWriteStream()` do not rotate: here the producer does it for
 * them. `--quick` writes a tenth: for a look, not for the record. rotating-file-stream takes minutes; the table names
 * the contestants that were left out.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { Contestant, type Round, standings, standingsHead, takeTurns } from "./contest.ts";
import { corpusFolder } from "./corpus_folder.ts";
import { contestants as known } from "./log/contestants.ts";
import { hashOfLines, LINE_LENGTH } from "./log/lines.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { runTimed } from "./timed_job.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string", default: "1" },
    peers: { type: "string" },
    without: { type: "string", default: "" },
  },
});
const count = values.quick ? 1e6 : 1e7;
const MAX_FILE_SIZE = values.quick ? 6_400_000 : 64_000_000;
const without = values.without.split(",").filter((name) => name !== "");
const names = (values.peers?.split(",") ?? Object.keys(known)).filter((name) => !without.includes(name));

const script = await bundled("bench/log/job.ts", "external");
const expected = hashOfLines(count);
/** The 99th percentile of a call of write() in µs, by contestant. */
const slowest = new Map<string, number>();

/** Returns the files with lines, in the order of their numbers; the file without a number is the newest. */
async function filesIn(directory: string): Promise<string[]> {
  const numbered = (await readdir(directory)).filter((name) => !name.startsWith(".")).map((name) => {
    return { path: join(directory, name), number: Number(/\d+/.exec(name)?.[0] ?? Infinity) };
  });
  return numbered.sort((a, b) => a.number - b.number).map(({ path }) => path);
}

async function play(name: string): Promise<Round> {
  await mkdir(corpusFolder, { recursive: true });
  const directory = await mkdtemp(join(corpusFolder, "log-"));
  const times = `${directory}.times`;
  try {
    const round = await runTimed(script, [name, String(count), String(MAX_FILE_SIZE), directory, times]);
    slowest.set(name, Math.min(slowest.get(name) ?? Infinity, Number(await readFile(times, "utf8"))));
    const hash = createHash("sha256");
    let size = 0;
    const files = await filesIn(directory);
    for (const path of files) {
      size += (await stat(path)).size;
      for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
    }
    if (hash.digest("hex") !== expected) {
      throw new TypeError(
        `it wrote ${size} bytes, in ${files.length} files, that are not ${count * LINE_LENGTH} of lines`,
      );
    }
    return round;
  } finally {
    await rm(directory, { recursive: true });
    await rm(times, { force: true });
  }
}

const contestants = names.map((name) => new Contestant(name, () => play(name)));
await takeTurns(contestants, Number(values.rounds));
const title = `log: ${runtimeName().split(" ")[0]}`;
const rows = standings(contestants).map((row) => [...row, slowest.get(row[0])?.toFixed(1) ?? "-"]);
const body = `${circumstances()}. ${count / 1e6} million lines, files of at most ${
  MAX_FILE_SIZE / 1e6
} MB. Fastest of ${values.rounds} rounds${without.length > 0 ? `, without ${without.join()}` : ""}.\n\n${
  table([...standingsHead, "p99 of write(), µs"], rows)
}`;
const failed = contestants.some(({ name, failure }) => name.startsWith("ours") && failure !== undefined);
if (failed) process.exitCode = 1;
if (!failed && values.peers === undefined && !values.quick) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
