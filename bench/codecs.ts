/**
 * Our codecs beside the runtime's own `node:zlib`, brotli-wasm and zstd-wasm: bytes and time over the corpus, one
 * thread.
 *
 *   npm run bench -- codecs [--rounds 3] [--bytes 4000000]
 *
 * Engines take turns file by file, in changing order; each file counts with its fastest round. Every output is
 * decompressed and compared, ours by the native decoder too, and the reverse.
 */
import { createHash } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Engine, enginesOf, type Scenario, scenarios } from "./codec_engines.ts";
import { type CorpusFile, readCorpus, totalBytes } from "./corpus.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { rounds: { type: "string" }, bytes: { type: "string" } } });
const rounds = Number(values.rounds ?? 3);
const files = upTo(Number(values.bytes ?? Infinity), readCorpus());

/** The figures of one engine in one scenario. Times are in milliseconds, summed over the files. */
interface Sums {
  readonly engine: Engine;
  readonly outputs: Uint8Array<ArrayBuffer>[];
  compress: number;
  decompress: number;
}

function upTo(bytes: number, all: CorpusFile[]): CorpusFile[] {
  let sum = 0;
  return all.filter(({ bytes: { length } }) => (sum += length) <= bytes || sum === length);
}

function time(work: () => Uint8Array<ArrayBuffer>): [milliseconds: number, result: Uint8Array<ArrayBuffer>] {
  const start = performance.now();
  const result = work();
  return [performance.now() - start, result];
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Compresses and decompresses one file with every engine, several times, and adds each one's best. */
function measure(file: CorpusFile, sums: Sums[]): void {
  const best = sums.map(() => ({ compress: Infinity, decompress: Infinity }));
  const outputs: Uint8Array<ArrayBuffer>[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < sums.length; turn++) {
      const i = (turn + round) % sums.length;
      const [compressTime, output] = time(() => sums[i].engine.compress(file.bytes));
      best[i].compress = Math.min(best[i].compress, compressTime);
      outputs[i] = output;
    }
  }
  for (let round = 0; round < rounds * 3; round++) {
    for (let turn = 0; turn < sums.length; turn++) {
      const i = (turn + round) % sums.length;
      const [decompressTime, back] = time(() => sums[i].engine.decompress(outputs[i]));
      best[i].decompress = Math.min(best[i].decompress, decompressTime);
      if (round > 0) continue;
      requireSame(file, back, `${sums[i].engine.name} after itself`);
      requireSame(file, sums[0].engine.decompress(outputs[i]), `${sums[0].engine.name} after ${sums[i].engine.name}`);
      requireSame(file, sums[1].engine.decompress(outputs[i]), `${sums[1].engine.name} after ${sums[i].engine.name}`);
    }
  }
  for (const [i, sum] of sums.entries()) {
    sum.outputs.push(outputs[i]);
    sum.compress += best[i].compress;
    sum.decompress += best[i].decompress;
  }
}

function requireSame(file: CorpusFile, back: Uint8Array, what: string): void {
  if (!sameBytes(file.bytes, back)) throw new TypeError(`${what} gives other bytes for ${file.path}`);
}

function row({ label }: Scenario, native: Sums, sum: Sums): string[] {
  const bytes = sum.outputs.reduce((total, { length }) => total + length, 0);
  const nativeBytes = native.outputs.reduce((total, { length }) => total + length, 0);
  const same = sum.outputs.filter((output, i) => sameBytes(output, native.outputs[i])).length;
  const decoded = totalBytes(files) / 1000 / sum.decompress;
  return [
    `${label} ${sum.engine.name}`,
    bytes.toLocaleString("en"),
    `${((bytes / nativeBytes - 1) * 100).toFixed(3)}%`,
    `${same} of ${files.length}`,
    `${(sum.compress / 1000).toFixed(2)} s`,
    (native.compress / sum.compress).toFixed(2),
    decoded.toFixed(0),
    (native.decompress / sum.decompress).toFixed(2),
  ];
}

const rows: string[][] = [];
const digests: string[] = [];
for (const scenario of scenarios) {
  const sums = (await enginesOf(scenario)).map((engine): Sums => ({ engine, outputs: [], compress: 0, decompress: 0 }));
  for (const [i, file] of files.entries()) {
    measure(file, sums);
    if (process.stderr.isTTY) process.stderr.write(`\r${scenario.label} ${i + 1}/${files.length} `);
  }
  rows.push(...sums.map((sum) => row(scenario, sums[0], sum)));
  const hash = createHash("sha256");
  for (const output of sums[1].outputs) hash.update(output);
  digests.push(`${scenario.label} ${hash.digest("hex").slice(0, 16)}`);
}

const head = ["", "bytes", "to native", "same files", "time", "speed", "decode MB/s", "decode speed"];
writeSection(
  `codecs: ${runtimeName().split(" ")[0]}`,
  `${circumstances()}. ${files.length} files, ${
    totalBytes(files).toLocaleString("en")
  } bytes, best of ${rounds} rounds a ` +
    `file. Speed is native time / time of the row.\n\n${table(head, rows)}\n\nSHA-256 of our outputs: ${
      digests.join(", ")
    }.`,
);
