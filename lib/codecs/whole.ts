import { wrongType } from "../streams/internal.ts";
import { type Family, type Format, formats, traitsOf } from "./format.ts";
import { Codec, type WasmModule } from "./module.ts";
import {
  type CompressOptions,
  compressParameters,
  compressSyncOptions,
  type DecompressOptions,
  decompressParameters,
  decompressSyncOptions,
  requireBytes,
  type SessionParameters,
} from "./options.ts";
import { compressBy, decompressBy } from "./pump.ts";
import { runSync } from "./session.ts";

type AllCodecs = Readonly<Record<Family, Codec>>;

/** The codecs that encode; bundlers drop them where they are unused, as in pages that only decompress. */
export const encoders: AllCodecs = {
  brotli: /* @__PURE__ */ new Codec("brotli_encoder", () => import("./wasm/brotli_encoder.js")),
  zstd: /* @__PURE__ */ new Codec("zstd_encoder", () => import("./wasm/zstd_encoder.js")),
  deflate: /* @__PURE__ */ new Codec("gzip_encoder", () => import("./wasm/deflate_encoder.js")),
};

export const decoders: AllCodecs = {
  brotli: /* @__PURE__ */ new Codec("brotli_decoder", () => import("./wasm/brotli_decoder.js")),
  zstd: /* @__PURE__ */ new Codec("zstd_decoder", () => import("./wasm/zstd_decoder.js")),
  deflate: /* @__PURE__ */ new Codec("gzip_decoder", () => import("./wasm/deflate_decoder.js")),
};

/**
 * Compresses `bytes` whole. The result is the same on every runtime.
 *
 * Levels default to those for builds, whose output is compressed once and read often. A {@linkcode CompressionStream}
 * defaults to lower levels, for data that a reader waits for.
 *
 * The bytes are read as they are at the call. The work is done on the calling thread and yields to the event loop
 * between blocks of 128 to 300 KB, each of which takes 50 to 500 ms at the best levels.
 *
 * @param bytes The bytes to compress.
 * @returns The compressed bytes.
 * @throws {TypeError} if the format is unknown, its dictionary is missing, or the format takes none.
 * @throws {RangeError} if a level or window is out of range, or memory runs out.
 * @throws the reason of `signal`.
 * @example Compress a page for storage
 * ```ts
 * import { compress } from "@millrace/streams/codecs";
 *
 * const page = new TextEncoder().encode("<p>The mill turns.</p>".repeat(50));
 * const small = await compress(page, { format: "brotli" });
 * console.log(page.length, small.length); // 1100 39
 * ```
 */
export async function compress(
  bytes: ArrayBufferView | ArrayBufferLike,
  options: CompressOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return await compressBy(encoders, bytes, options);
}

/**
 * Decompresses `bytes` whole.
 *
 * Several gzip members or zstd frames in a row are read as one; anything else after the end is an error. The work is
 * done on the calling thread and yields to the event loop after each MiB of `bytes`, and after each 16 MiB of the
 * result.
 *
 * @param bytes The bytes to decompress.
 * @returns The decompressed bytes.
 * @throws {TypeError} if the data is corrupt, truncated, or made with another dictionary.
 * @throws {RangeError} if the result would be larger than `maxSize`, a window larger than `maxWindow`, or memory runs out.
 * @throws the reason of `signal`.
 * @example Read what an untrusted sender compressed
 * ```ts
 * import { compress, decompress } from "@millrace/streams/codecs";
 *
 * const received = await compress(new Uint8Array(1000), { format: "zstd" });
 * const bytes = await decompress(received, { format: "zstd", maxSize: 10_000_000 });
 * console.log(bytes.length); // 1000
 * ```
 */
export async function decompress(
  bytes: ArrayBufferView | ArrayBufferLike,
  options: DecompressOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  return await decompressBy(decoders, bytes, options);
}

/**
 * Loads codecs, which {@linkcode compressSync} and {@linkcode decompressSync} require.
 *
 * @param wanted The formats to load. Default: all.
 * @param direction The direction to load. Default: both.
 * @throws {TypeError} if a format or the direction is unknown, or `wanted` is not iterable.
 * @example Load one codec when the program starts
 * ```ts
 * import { compressSync, ready } from "@millrace/streams/codecs";
 *
 * await ready(["gzip"], "compress");
 * console.log(compressSync(new Uint8Array(1000), { format: "gzip" }).length); // 28
 * ```
 */
export async function ready(
  wanted: readonly Format[] = formats,
  direction?: "compress" | "decompress",
): Promise<void> {
  if (!Array.isArray(wanted)) throw wrongType("wanted", "a list of formats", wanted);
  if (!["compress", "decompress", undefined].includes(direction)) {
    throw wrongType("direction", `"compress" or "decompress"`, direction);
  }
  const families = new Set(wanted.map((format) => traitsOf(format).family));
  const codecs = direction ? [direction === "compress" ? encoders : decoders] : [encoders, decoders];
  await Promise.all([...families].flatMap((family) => codecs.map((each) => each[family].load())));
}

/**
 * {@linkcode compress} without a promise, after {@linkcode ready}.
 *
 * @param bytes The bytes to compress.
 * @param options As for {@linkcode compress}.
 * @returns The compressed bytes.
 * @throws {TypeError} as {@linkcode compress} does, and if the codec is not loaded.
 * @throws {RangeError} as {@linkcode compress} does.
 * @example Compress where nothing can be awaited
 * ```ts
 * import { compressSync, ready } from "@millrace/streams/codecs";
 *
 * await ready(["zstd"]);
 * const packed = ["a", "b"].map((text) => compressSync(new TextEncoder().encode(text.repeat(500)), { format: "zstd" }));
 * console.log(packed.length, packed[0]?.length); // 2 18
 * ```
 */
export function compressSync(
  bytes: ArrayBufferView | ArrayBufferLike,
  options: Omit<CompressOptions, "signal">,
): Uint8Array<ArrayBuffer> {
  const input = requireBytes(bytes, "bytes");
  const parameters = compressParameters(compressSyncOptions.check(options), input.length, true);
  return runSync(input, parameters, requireLoaded(encoders, parameters), Infinity);
}

/**
 * {@linkcode decompress} without a promise, after {@linkcode ready}.
 *
 * @param bytes The bytes to decompress.
 * @param options As for {@linkcode decompress}.
 * @returns The decompressed bytes.
 * @throws {TypeError} as {@linkcode decompress} does, and if the codec is not loaded.
 * @throws {RangeError} as {@linkcode decompress} does.
 * @example There and back
 * ```ts
 * import { compressSync, decompressSync, ready } from "@millrace/streams/codecs";
 *
 * await ready(["zstd"]);
 * const small = compressSync(new Uint8Array(1000), { format: "zstd" });
 * console.log(small.length, decompressSync(small, { format: "zstd" }).length); // 18 1000
 * ```
 */
export function decompressSync(
  bytes: ArrayBufferView | ArrayBufferLike,
  options: Omit<DecompressOptions, "signal">,
): Uint8Array<ArrayBuffer> {
  const input = requireBytes(bytes, "bytes");
  const checked = decompressSyncOptions.check(options);
  const parameters = decompressParameters(checked, true);
  return runSync(input, parameters, requireLoaded(decoders, parameters), checked.maxSize ?? Infinity);
}

function requireLoaded(codecs: AllCodecs, { family, direction, format }: SessionParameters): WasmModule {
  const { module } = codecs[family];
  if (module) return module;
  throw new TypeError(`${direction}Sync cannot run: ${format} is not loaded: await ready(["${format}"]) first`);
}
