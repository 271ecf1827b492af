import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

const { BROTLI_PARAM_QUALITY } = constants;

/** Compression functions, by the name of the coding. */
export const codings: Readonly<Record<string, (text: string) => Uint8Array<ArrayBuffer>>> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  // The best quality, which is the default, takes a hundred times as long.
  br: (text) => brotliCompressSync(text, { params: { [BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (text) => zstdCompressSync(text),
};
