import { type Decoder, openDecoder } from "../codecs/internal.ts";
import type { ContentCoding } from "./content_codings.ts";
import { UploadError } from "./upload_error.ts";

/** log2 of the largest zstd window, 8 MiB: RFC 9659 forbids larger ones in this coding. */
const ZSTD_WINDOW_LOG = 23;

/**
 * Opens what undoes a content coding.
 *
 * @param first The first byte that is to be decoded, if there is one.
 * @throws {RangeError} if memory runs out.
 */
export function openCodingDecoder(coding: ContentCoding, first: number | undefined): Promise<Decoder> {
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
 * Whether data of the coding `deflate` lacks its zlib wrapper, which begins with the number 8 for the method (RFC 1950,
 * section 2.2). Deflate data itself does not: it would begin with a stored block whose padding is not zero.
 */
function isUnwrapped(first: number | undefined): boolean {
  return first !== undefined && (first & 15) !== 8;
}

/** What an error of a decoder means for the upload. */
export function decodingError(coding: ContentCoding, cause: unknown): unknown {
  if (!(cause instanceof TypeError)) return cause; // out of memory, which is not the sender's fault
  if (coding === "zstd" && cause.message.includes("too much memory")) {
    const message = "The body needs a zstd window above 8 MiB, the most that HTTP allows: use a windowLog up to 23";
    return new UploadError("UNSUPPORTED", message, { cause });
  }
  return new UploadError("MALFORMED", `The body is not what its coding promises: ${cause.message}`, { cause });
}
