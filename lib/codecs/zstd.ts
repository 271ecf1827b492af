/**
 * The zstd part of `./codecs`, without the other codecs and without codec streams.
 * In browsers both codecs come with the import; on servers each is loaded when it is first used.
 *
 * @example Compress and decompress
 * ```ts
 * import { compress, decompress } from "@millrace/streams/codecs/zstd";
 *
 * console.log((await decompress(await compress(new Uint8Array(1600)), { maxSize: 10_000 })).length); // 1600
 * ```
 *
 * @module
 */
import { compressionClass, decompressionClass } from "./codec_stream.ts";
import { Codec, type Codecs } from "./module.ts";
import type {
  CompressionStreamOptions,
  CompressOptions,
  DecompressionStreamOptions,
  DecompressOptions,
} from "./options.ts";
import { compressBy, decompressBy } from "./pump.ts";

export { provide } from "./module.ts";
export type { CompressionStreamOptions, CompressOptions, DecompressionStreamOptions, DecompressOptions };

const encoders: Codecs = {
  zstd: /* @__PURE__ */ new Codec("zstd_encoder", () => import("./wasm/zstd_encoder.js")),
};
const decoders: Codecs = {
  zstd: /* @__PURE__ */ new Codec("zstd_decoder", () => import("./wasm/zstd_decoder.js")),
};

/**
 * Compresses `bytes` whole, as `compress()` of `./codecs` does, to `zstd` by default or `dcz`.
 *
 * @throws {TypeError} as that function does, and if the format is not one of these.
 * @example Compress zeros
 * ```ts
 * import { compress } from "@millrace/streams/codecs/zstd";
 *
 * console.log((await compress(new Uint8Array(1000))).length); // 18
 * ```
 */
export function compress(
  bytes: ArrayBufferView | ArrayBufferLike,
  options?: Partial<CompressOptions>,
): Promise<Uint8Array<ArrayBuffer>> {
  return compressBy(encoders, bytes, { ...options, format: options?.format ?? "zstd" });
}

/**
 * Decompresses `bytes` whole, as `decompress()` of `./codecs` does, from `zstd` by default or `dcz`.
 *
 * @throws {TypeError} as that function does, and if the format is not one of these.
 * @example There and back
 * ```ts
 * import { compress, decompress } from "@millrace/streams/codecs/zstd";
 *
 * console.log((await decompress(await compress(new Uint8Array(1000)))).length); // 1000
 * ```
 */
export function decompress(
  bytes: ArrayBufferView | ArrayBufferLike,
  options?: Partial<DecompressOptions>,
): Promise<Uint8Array<ArrayBuffer>> {
  return decompressBy(decoders, bytes, { ...options, format: options?.format ?? "zstd" });
}

/**
 * Compresses a stream of bytes in constant memory, as `CompressionStream` of `./codecs` does. Both ends are streams of
 * the runtime.
 *
 * @example Compress a body on its way
 * ```ts
 * import { CompressionStream } from "@millrace/streams/codecs/zstd";
 *
 * const body = new Blob([new Uint8Array(1000)]).stream().pipeThrough(new CompressionStream());
 * console.log((await new Response(body).bytes()).length < 100); // true
 * ```
 */
export const CompressionStream: new (
  format?: "zstd" | "dcz",
  options?: CompressionStreamOptions,
) => ReadableWritablePair<Uint8Array<ArrayBuffer>, ArrayBufferView | ArrayBufferLike> = /* @__PURE__ */
  compressionClass(encoders, "zstd");

/**
 * Decompresses a stream of bytes in constant memory, as `DecompressionStream` of `./codecs` does. Both ends are streams
 * of the runtime.
 *
 * @example Read a compressed body, but no more than 1 MB of it
 * ```ts
 * import { compress, DecompressionStream } from "@millrace/streams/codecs/zstd";
 *
 * const body = new Blob([await compress(new Uint8Array(1000))]).stream();
 * const bytes = body.pipeThrough(new DecompressionStream("zstd", { maxSize: 1_000_000 }));
 * console.log((await new Response(bytes).bytes()).length); // 1000
 * ```
 */
export const DecompressionStream: new (
  format?: "zstd" | "dcz",
  options?: DecompressionStreamOptions,
) => ReadableWritablePair<Uint8Array<ArrayBuffer>, ArrayBufferView | ArrayBufferLike> = /* @__PURE__ */
  decompressionClass(decoders, "zstd");
