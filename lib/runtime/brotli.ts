import process from "node:process";
import { brotliCompressSync, constants } from "node:zlib";

const { bun } = process.versions as Record<string, string | undefined>;

/**
 * Compresses bytes with the runtime's own brotli, where that takes less time than ours in WebAssembly; undefined elsewhere.
 *
 * Bun takes 0.87 of the time for the same bytes. Node and Deno take 1.05 to 1.4 in a server.
 */
export function nativeBrotli(bytes: Uint8Array, level: number, windowLog: number): Uint8Array<ArrayBuffer> | undefined {
  if (!bun) return undefined;
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: level,
      [constants.BROTLI_PARAM_LGWIN]: windowLog,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }) as Uint8Array<ArrayBuffer>;
}
