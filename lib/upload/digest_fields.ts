import { type DigestAlgorithm, parseDigests } from "../semantics/mod.ts";
import { UploadError } from "./upload_error.ts";

/**
 * Parses the value of `Content-Digest` or `Repr-Digest` as {@linkcode parseDigests} does.
 *
 * @param name The field's name, for messages.
 * @throws {UploadError} `BAD_DIGEST` if the value is malformed or a digest of the wrong length.
 */
export function parseDigestField(name: string, value: string): Map<DigestAlgorithm, string> {
  try {
    return parseDigests(value);
  } catch (cause) {
    throw new UploadError("BAD_DIGEST", `${name} is malformed: ${(cause as SyntaxError).message}`, { cause });
  }
}
