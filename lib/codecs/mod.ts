/**
 * zstd, brotli and deflate in WebAssembly: the same bytes on every runtime and in browsers.
 *
 * Each codec is loaded on first use, encoders apart from decoders.
 *
 * @example Compress and decompress
 * ```ts
 * import { compress, decompress } from "@millrace/streams/codecs";
 *
 * const text = new TextEncoder().encode("round and round ".repeat(100));
 * const small = await compress(text, { format: "zstd" });
 * const same = await decompress(small, { format: "zstd" });
 * console.log(text.length, small.length, same.length); // 1600 34 1600
 * ```
 *
 * @module
 */
export { CompressionStream } from "./compression_stream.ts";
export { DecompressionStream } from "./decompression_stream.ts";
export { type Format, formats, levels } from "./format.ts";
export { provide } from "./module.ts";
export type {
  CompressionStreamOptions,
  CompressOptions,
  DecompressionStreamOptions,
  DecompressOptions,
} from "./options.ts";
export { compress, compressSync, decompress, decompressSync, ready } from "./whole.ts";
