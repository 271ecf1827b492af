import { type Decoder, openDecoder } from "../codecs/decoder.ts";

/** A content coding of HTTP that can be undone. */
export type ContentCoding = "gzip" | "deflate" | "br" | "zstd";

/** The codings by the names that `Content-Encoding` has for them, in lower case. */
export const contentCodingNames: ReadonlyMap<string, ContentCoding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["zstd", "zstd"],
]);

/** log2 of the largest zstd window, 8 MiB: RFC 9659 forbids larger ones in this coding. */
const ZSTD_WINDOW_LOG = 23;

/**
 * Opens what undoes a content coding.
 *
 * @param first The first byte that is to be decoded, if there is one.
 * @throws {RangeError} if memory runs out.
 */
export function openContentDecoder(coding: ContentCoding, first: number | undefined): Promise<Decoder> {
  switch (coding) {
    case "br":
      return openDecoder("brotli");
    case "zstd":
      return openDecoder("zstd", { windowLog: ZSTD_WINDOW_LOG });
    case "gzip":
      return openDecoder("gzip");
    case "deflate":
      return openDecoder(isUnwrapped(first) ? "deflate-raw" : "deflate");
  }
}

/**
 * Whether data of the coding `deflate` lacks its zlib wrapper, as some servers leave it out. That begins with the number 8 for the
 * method (RFC 1950, section 2.2); deflate data itself does not: it would begin with a stored block whose padding is not zero.
 */
function isUnwrapped(first: number | undefined): boolean {
  return first !== undefined && (first & 15) !== 8;
}
