import process from "node:process";
import * as zlib from "node:zlib";
import type { Format } from "../../../lib/codecs/mod.ts";

/** Whether the runtime's decoders are a reference: Bun's and Deno's refuse other data than Node's. */
const isJudge = !process.versions.bun && !process.versions.deno;

/**
 * Decodes data by the runtime's own decoder; undefined if it refuses the data, or there is no decoder to compare with.
 */
export function decompressNatively(data: Uint8Array, format: Format, maxOutputLength: number): Uint8Array | undefined {
  if (!isJudge) return undefined;
  const options = { maxOutputLength };
  try {
    if (format === "gzip") return zlib.gunzipSync(data, options);
    if (format === "deflate") return zlib.inflateSync(data, options);
    if (format === "deflate-raw") return zlib.inflateRawSync(data, options);
    if (format === "brotli") return zlib.brotliDecompressSync(data, options);
    if (format === "zstd") return zlib.zstdDecompressSync(data, options);
  } catch {
    // It says so in its own words.
  }
  return undefined;
}
