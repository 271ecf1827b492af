/**
 * Compares two builds of an encoder, `brotli` or `zstd`, byte for byte: the released C (feature `unpatched`) and ours
 * with `wasm/patches/`. libdeflate's patch chooses other matches, for fewer bytes.
 *
 * ```sh
 * node tests/codecs/bit_exact.ts FAMILY REFERENCE.wasm PATCHED.wasm [SEED [COUNT [FOLDER]]]
 * ```
 *
 * First encodes up to 600 real files of FOLDER (default `node_modules`) at a high level, then COUNT (default 12,000)
 * fuzzed inputs from SEED (default 1): all levels, of brotli mostly 10 and 11, all windows, whole and in chunks with
 * flushes, with raw dictionaries. COUNT 0 compares the files only. Exits with 1 on any difference.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { concatenated } from "../support/bytes.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { fuzzedInput, fuzzedSize, slice } from "./fuzzed_inputs.ts";
import { type Chunk, RawEncoder, type Run } from "./raw_encoder.ts";

const MAX_FILES = 600;
const FILE_SIZES = { min: 300, max: 2_000_000 };
const SEEN_IN_BROWSERS = /\.(js|mjs|cjs|css|html|json|svg|wasm|md|txt|map)$/;

const [family, referencePath, patchedPath, seed = "1", count = "12000", folder = "node_modules"] = process.argv.slice(
  2,
);
const isBrotli = family === "brotli";
if (!isBrotli && family !== "zstd" || !patchedPath || !Number.isSafeInteger(+seed) || !Number.isSafeInteger(+count)) {
  console.error("usage: bit_exact.ts brotli|zstd REFERENCE.wasm PATCHED.wasm [SEED [COUNT [FOLDER]]]");
  process.exit(2);
}
const reference = new RawEncoder(referencePath!);
const patched = new RawEncoder(patchedPath);
let differences = 0;

const files = realFiles(folder);
for (const [path, bytes] of files) {
  const chunks = [{ length: bytes.length, operation: 2 } as const];
  compare(path, bytes, { level: isBrotli ? 11 : 19, windowLog: 0, sizeKnown: true, chunks });
}
console.log(`${files.size} files, ${differences} differences`);

const slices = [...files.values()];
const random = randomNumbers(+seed);
let total = 0;
for (let done = 1; done <= +count; done++) {
  const bytes = fuzzedInput(fuzzedSize(random), random, slices);
  total += bytes.length;
  compare(`input ${done} of seed ${seed}`, bytes, randomRun(bytes));
  if (done % 1000 === 0 || done === +count) console.log(`${done} inputs, ${total} bytes, ${differences} differences`);
}
process.exit(differences === 0 ? 0 : 1);

function compare(name: string, bytes: Uint8Array, run: Run): void {
  const [expected, actual] = [outcome(reference, bytes, run), outcome(patched, bytes, run)];
  if (expected === actual) return;
  differences++;
  const { dictionary, chunks, ...rest } = run;
  const described = { ...rest, chunks: chunks.length, dictionary: dictionary?.length ?? 0 };
  console.error(`${name} (${bytes.length} bytes, ${JSON.stringify(described)}) differs`);
}

/**
 * Returns the encoded bytes as text that compares fast, with the borders of the steps; or the error, such as a trap.
 */
function outcome(encoder: RawEncoder, bytes: Uint8Array, run: Run): string {
  try {
    return encoder.encode(bytes, run).map((piece) => new TextDecoder("latin1").decode(piece)).join("|");
  } catch (error) {
    return `failed: ${error}`;
  }
}

function randomRun(bytes: Uint8Array): Run {
  const kind = random(10);
  const level = !isBrotli ? 1 + random(22) : kind < 6 ? 11 : kind < 8 ? 10 : random(10);
  const windowLog = random(2) === 0 ? 0 : 10 + random(isBrotli ? 15 : 18);
  const chunks = random(3) === 0 ? randomChunks(bytes.length) : [{ length: bytes.length, operation: 2 } as const];
  const run = { level, windowLog, sizeKnown: random(4) > 0, chunks };
  return random(6) === 0 ? { ...run, dictionary: randomDictionary(bytes) } : run;
}

function randomChunks(size: number): Chunk[] {
  const chunks: Chunk[] = [];
  const longest = 1 + Math.max(size >> 6, random(2 ** (4 + random(14))));
  for (let rest = size; rest > 0;) {
    const length = Math.min(rest, 1 + random(longest));
    chunks.push({ length, operation: random(8) === 0 ? 1 : 0 });
    rest -= length;
  }
  return [...chunks, { length: 0, operation: 2 }];
}

/** Returns unrelated bytes followed by a part of the input, like the previous version of a file. */
function randomDictionary(bytes: Uint8Array): Uint8Array {
  const start = random(bytes.length + 1);
  const shared = bytes.subarray(start, start + random(bytes.length + 1));
  return concatenated([slice(1 + random(2 ** random(17)), random, slices), shared]);
}

/** Files of kinds that are served to browsers, in an order that mixes the packages. */
function realFiles(root: string): Map<string, Uint8Array> {
  const paths = (readdirSync(root, { recursive: true }) as string[]).filter((path) => SEEN_IN_BROWSERS.test(path))
    .sort();
  const step = Math.max(1, Math.floor(paths.length / MAX_FILES));
  const found = new Map<string, Uint8Array>();
  for (let k = 0; k < paths.length && found.size < MAX_FILES; k += step) {
    const path = join(root, paths[k]!);
    const stat = statSync(path);
    if (stat.isFile() && stat.size >= FILE_SIZES.min && stat.size <= FILE_SIZES.max) {
      found.set(path, readFileSync(path));
    }
  }
  if (found.size === 0) throw new Error(`no files to compare in ${root}`);
  return found;
}
