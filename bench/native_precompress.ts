/**
 * The usual way to precompress a folder: every file in every format at once through the asynchronous `node:zlib`. It is
 * the rival of `bench/precompress.ts`, in its fair form: zstd and brotli get the size.
 *
 *   node bench/native_precompress.ts DIR
 */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import * as zlib from "node:zlib";

const { constants } = zlib;
const brotli = promisify(zlib.brotliCompress as (bytes: Uint8Array, options: zlib.BrotliOptions, done: Done) => void);
const zstd = promisify(zlib.zstdCompress as (bytes: Uint8Array, options: zlib.ZstdOptions, done: Done) => void);
const gzip = promisify(zlib.gzip as (bytes: Uint8Array, options: zlib.ZlibOptions, done: Done) => void);
type Done = (error: Error | null, result: Uint8Array) => void;

async function precompressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  const size = bytes.length;
  const outputs = await Promise.all([
    brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: size } }),
    zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 }, pledgedSrcSize: size } as zlib.ZstdOptions),
    gzip(bytes, { level: 9 }),
  ]);
  await Promise.all([".br", ".zst", ".gz"].map((extension, i) => writeFile(path + extension, outputs[i])));
}

const directory = process.argv[2];
const paths = (await readdir(directory, { recursive: true })).map((path) => join(directory, path));
const files = (await Promise.all(paths.map(async (path) => (await stat(path)).isFile() ? [path] : []))).flat();
await Promise.all(files.map(precompressFile));
