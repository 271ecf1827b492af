import { createHash, type Hash } from "node:crypto";
import { type DigestAlgorithm, formatDigest } from "../../semantics/mod.ts";
import { UploadError } from "./upload_error.ts";

/** Makes digests of bytes that pass, on the calling thread. */
export class Digester {
  readonly #hashes: ReadonlyMap<DigestAlgorithm, Hash>;

  /** Begins digests of each of the algorithms. */
  constructor(algorithms: Iterable<DigestAlgorithm>) {
    this.#hashes = new Map(Array.from(algorithms, (name) => [name, createHash(name.replace("-", ""))]));
  }

  /** Takes bytes in; they may be used again afterwards. */
  update(pieces: readonly Uint8Array[]): void {
    for (const hash of this.#hashes.values()) {
      for (const piece of pieces) hash.update(piece);
    }
  }

  /** The digests in base64 of all that passed. To be called once. */
  finish(): Map<DigestAlgorithm, string> {
    return new Map(Array.from(this.#hashes, ([algorithm, hash]) => [algorithm, hash.digest("base64")]));
  }
}

/**
 * Holds the digests of what was received against those that a field announced.
 *
 * @param field The field's name, for messages.
 * @param expected The digests of the field, in base64.
 * @param actual The digests of what was received, of the same algorithms at least.
 * @throws {UploadError} `DIGEST_MISMATCH` if one differs.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-2}
 */
export function verifyDigests(
  field: string,
  expected: ReadonlyMap<DigestAlgorithm, string>,
  actual: ReadonlyMap<DigestAlgorithm, string>,
): void {
  for (const [algorithm, base64] of expected) {
    const found = actual.get(algorithm);
    if (found === base64) continue;
    if (found === undefined) throw new TypeError(`cannot verify ${field}: no ${algorithm} digest was made`);
    const [announced, received] = [formatDigest(algorithm, base64), formatDigest(algorithm, found)];
    const message = `The bytes received are not those of ${field}: it says ${announced}, they have ${received}`;
    throw new UploadError("DIGEST_MISMATCH", message);
  }
}
