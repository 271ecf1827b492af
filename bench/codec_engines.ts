import { createRequire } from "node:module";
import * as zlib from "node:zlib";
import type * as BrotliWasm from "brotli-wasm";
import { compressSync, decompressSync, type Format, ready } from "../lib/codecs/mod.ts";

/** A format at one level. */
export interface Scenario {
  readonly label: string;
  readonly format: "brotli" | "zstd" | "gzip";
  readonly level: number;
  /** The native level to compare with, if this package's level has no equal. */
  readonly nativeLevel?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Whole buffers in, whole buffers out. */
export interface Engine {
  readonly name: string;
  readonly compress: (bytes: Bytes) => Bytes;
  readonly decompress: (bytes: Bytes) => Bytes;
}

export const scenarios: readonly Scenario[] = [
  { label: "brotli 11", format: "brotli", level: 11 },
  { label: "brotli 5", format: "brotli", level: 5 },
  { label: "zstd 19", format: "zstd", level: 19 },
  { label: "zstd 3", format: "zstd", level: 3 },
  { label: "gzip 9", format: "gzip", level: 9 },
  { label: "gzip 12", format: "gzip", level: 12, nativeLevel: 9 },
];

const { constants } = zlib;

/** Makes an engine with native options that are fair to native: the size is given, as it is to this package's codec. */
function native({ format, level, nativeLevel = level }: Scenario): Engine {
  if (format === "brotli") {
    return {
      name: "native",
      compress: (bytes) =>
        zlib.brotliCompressSync(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        }),
      decompress: (bytes) => zlib.brotliDecompressSync(bytes),
    };
  }
  if (format === "zstd") {
    return {
      name: "native",
      compress: (bytes) =>
        zlib.zstdCompressSync(bytes, {
          params: { [constants.ZSTD_c_compressionLevel]: level },
          pledgedSrcSize: bytes.length,
        } as zlib.ZstdOptions),
      decompress: (bytes) => zlib.zstdDecompressSync(bytes),
    };
  }
  return {
    name: nativeLevel === level ? "native" : `native ${nativeLevel}`,
    compress: (bytes) => zlib.gzipSync(bytes, { level: nativeLevel }),
    decompress: (bytes) => zlib.gunzipSync(bytes),
  };
}

async function ours(format: Format, level: number): Promise<Engine> {
  await ready([format]);
  return {
    name: "ours",
    compress: (bytes) => compressSync(bytes, { format, level }),
    decompress: (bytes) => decompressSync(bytes, { format }),
  };
}

/** Returns zstd as most callers use it: without the size, zstd uses the parameters for large inputs. */
function nativeWithoutSize(level: number): Engine {
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  return {
    name: "native, size not pledged",
    compress: (bytes) => zlib.zstdCompressSync(bytes, { params }),
    decompress: (bytes) => zlib.zstdDecompressSync(bytes),
  };
}

function brotliWasm(level: number): Engine {
  // The CommonJS entry: the ES module fetches its WASM file, which Node does not do for files.
  const brotli = createRequire(import.meta.url)("brotli-wasm") as Awaited<typeof BrotliWasm.default>;
  return {
    name: "brotli-wasm",
    compress: (bytes) => brotli.compress(bytes, { quality: level }) as Bytes,
    decompress: (bytes) => brotli.decompress(bytes) as Bytes,
  };
}

async function zstdWasm(level: number): Promise<Engine> {
  const zstd = await import("@bokuweb/zstd-wasm");
  await zstd.init();
  return {
    name: "zstd-wasm",
    compress: (bytes) => zstd.compress(bytes, level) as Bytes,
    decompress: (bytes) => zstd.decompress(bytes) as Bytes,
  };
}

/** Returns the engines of a scenario: native first, then ours, then peers. */
export async function enginesOf(scenario: Scenario): Promise<Engine[]> {
  const { format, level } = scenario;
  const engines = [native(scenario), await ours(format, level)];
  if (format === "brotli") engines.push(brotliWasm(level));
  if (format === "zstd") engines.push(await zstdWasm(level), nativeWithoutSize(level));
  return engines;
}
