import process from "node:process";

/** The part of Bun's codecs used here. */
interface BunZstd {
  zstdCompressSync(bytes: Uint8Array, options: { level: number }): Uint8Array<ArrayBuffer>;
}

const { bun } = process.versions as Record<string, string | undefined>;

/**
 * Compresses bytes with the runtime's own zstd, where that takes less time than ours in WebAssembly; undefined elsewhere.
 *
 * Bun takes 0.55 to 0.75 of the time for the same bytes. Node takes 1.0 to 1.3 for bodies of 20 KB, Deno more.
 */
export function nativeZstd(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> | undefined {
  if (!bun) return undefined;
  return (globalThis as unknown as { Bun: BunZstd }).Bun.zstdCompressSync(bytes, { level });
}
