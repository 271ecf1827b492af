import { Buffer } from "node:buffer";
import { parseDictionary } from "./structured_fields.ts";

/**
 * An algorithm of digests; algorithms that were broken are deprecated and not accepted.
 *
 * @example Refuse what arrived otherwise than it was sent
 * ```ts
 * import { type DigestAlgorithm, saveBody, UploadError } from "@millrace/streams/upload";
 *
 * const algorithm: DigestAlgorithm = "sha-256";
 * const headers = { "content-digest": `${algorithm}=:${btoa("\0".repeat(32))}:` };
 * const request = new Request("http://localhost/", { method: "PUT", headers, body: "something else" });
 * try {
 *   await saveBody(request, "uploads/note.txt", { verify: true });
 * } catch (error) {
 *   console.log(error instanceof UploadError && error.code); // DIGEST_MISMATCH
 * }
 * ```
 */
export type DigestAlgorithm = "sha-256" | "sha-512";

/** The length of each algorithm's digests, in bytes. */
const lengths: ReadonlyMap<DigestAlgorithm, number> = new Map([["sha-256", 32], ["sha-512", 64]]);

/** Every {@linkcode DigestAlgorithm}. */
export const ALGORITHMS: readonly DigestAlgorithm[] = [...lengths.keys()];

/**
 * Parses the value of `Content-Digest` or `Repr-Digest`, whose lines are joined by commas, to digests in canonical
 * base64. Members of other algorithms are passed over, as the standard allows.
 * @throws {SyntaxError} if the value is malformed anywhere or a digest of the wrong length.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-2}
 */
export function parseDigests(value: string): Map<DigestAlgorithm, string> {
  const members = parseDictionary(value);
  const digests = new Map<DigestAlgorithm, string>();
  for (const [algorithm, length] of lengths) {
    if (!members.has(algorithm)) continue;
    const bytes = members.get(algorithm);
    if (bytes?.length !== length) {
      const found = bytes ? `has ${bytes.length}` : "is no byte sequence";
      throw new SyntaxError(`${algorithm} has ${length} bytes, this one ${found}`);
    }
    digests.set(algorithm, Buffer.from(bytes).toString("base64"));
  }
  return digests;
}

/** A member of `Content-Digest` and `Repr-Digest`: `sha-256=:…:` (RFC 9651, section 4.1.8). */
export function formatDigest(algorithm: DigestAlgorithm, base64: string): string {
  return `${algorithm}=:${base64}:`;
}
