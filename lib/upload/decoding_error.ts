import type { ContentCoding } from "../codecs/internal.ts";
import { UploadError } from "./upload_error.ts";

/** What an error of a decoder means for the upload. */
export function decodingError(coding: ContentCoding, cause: unknown): unknown {
  if (!(cause instanceof TypeError)) return cause; // out of memory, which is not the sender's fault
  if (coding === "zstd" && cause.message.includes("too much memory")) {
    const message = "The body needs a zstd window above 8 MiB, the most that HTTP allows: use a windowLog up to 23";
    return new UploadError("UNSUPPORTED", message, { cause });
  }
  return new UploadError("MALFORMED", `The body is not what its coding promises: ${cause.message}`, { cause });
}
