// The codecs of runtimes, used where they are faster than WebAssembly.
import * as zlib from "node:zlib";

/** The part of Bun's codecs used here. */
interface BunCodecs {
  zstdCompressSync(bytes: Uint8Array, options: { level: number }): Uint8Array<ArrayBuffer>;
  gzipSync(bytes: Uint8Array, options: { level: number; library: "libdeflate" }): Uint8Array<ArrayBuffer>;
}

const bun = "Bun" in globalThis;
const deno = "Deno" in globalThis;

/** zlib's highest level; libdeflate's is 12. */
const ZLIB_LEVELS = 9;

/** The length in bytes from which this package's gzip is faster, since it checks fewer matches. */
const NATIVE_GZIP_LIMIT = 24 * 1024;

/**
 * Compresses bytes with the runtime's own gzip if that is faster than this package's in WebAssembly; undefined
 * otherwise.
 *
 * For 20 KB, Bun's libdeflate and Deno's zlib take 0.8 to 0.9 of the time in a server, for 0 to 5% more bytes; for 30
 * KB, 1.04 to 1.16. Node's zlib takes longer at every length.
 */
export function nativeGzip(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> | undefined {
  if (bytes.length >= NATIVE_GZIP_LIMIT) return undefined;
  if (bun) return (globalThis as unknown as { Bun: BunCodecs }).Bun.gzipSync(bytes, { level, library: "libdeflate" });
  return deno && level <= ZLIB_LEVELS ? zlib.gzipSync(bytes, { level }) as Uint8Array<ArrayBuffer> : undefined;
}

/**
 * Compresses bytes with the runtime's own brotli if that is faster than this package's in WebAssembly; undefined
 * otherwise.
 *
 * Bun takes 0.87 of the time for the same bytes. Node and Deno take 1.05 to 1.4 in a server.
 */
export function nativeBrotli(bytes: Uint8Array, level: number, windowLog: number): Uint8Array<ArrayBuffer> | undefined {
  if (!bun) return undefined;
  return zlib.brotliCompressSync(bytes, {
    params: {
      [zlib.constants.BROTLI_PARAM_QUALITY]: level,
      [zlib.constants.BROTLI_PARAM_LGWIN]: windowLog,
      [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }) as Uint8Array<ArrayBuffer>;
}

/** The length in bytes from which Deno's zstd is faster. */
const NATIVE_ZSTD_MIN = 24 * 1024;

/**
 * Compresses bytes with the runtime's own zstd if that is faster than this package's in WebAssembly; undefined
 * otherwise.
 *
 * Bun takes 0.55 to 0.75 of the time for the same bytes. Deno takes 0.88 for 30 to 40 KB, and 1.1 to 1.2 for 20 KB;
 * Node takes 1.0 to 1.3.
 */
export function nativeZstd(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> | undefined {
  if (bun) return (globalThis as unknown as { Bun: BunCodecs }).Bun.zstdCompressSync(bytes, { level });
  if (!deno || bytes.length < NATIVE_ZSTD_MIN || zlib.zstdCompressSync === undefined) return undefined;
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: level };
  return zlib.zstdCompressSync(bytes, { params }) as Uint8Array<ArrayBuffer>;
}
