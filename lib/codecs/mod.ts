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
export { CompressionStream, type CompressionStreamOptions } from "./compression_stream.ts";
export { DecompressionStream, type DecompressionStreamOptions } from "./decompression_stream.ts";
export { type Format, formats, type LevelRange, levels } from "./format.ts";
export type { CompressOptions, DecompressOptions, Direction } from "./options.ts";
export { compress, compressSync, decompress, decompressSync, ready } from "./whole.ts";
