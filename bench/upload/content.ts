import { createHash, randomFillSync } from "node:crypto";

/** The bytes that every upload is a slice of; random, so that no layer can compress or deduplicate them. */
const slab = randomFillSync(new Uint8Array(32 * 1024 * 1024));
/** The number of distinct uploads: those side by side differ everywhere, which reveals bytes in the wrong file. */
const VARIANTS = 8;
const STEP = slab.length / VARIANTS + 4099;
const digests = new Map<string, string>();

/** Yields the content of upload number `index`, in pieces that share their memory with all others. */
export function* contentOf(index: number, bytes: number): Generator<Uint8Array> {
  let at = (index % VARIANTS) * STEP % slab.length;
  for (let left = bytes; left > 0;) {
    const piece = slab.subarray(at, Math.min(slab.length, at + left));
    yield piece;
    left -= piece.length;
    at = 0;
  }
}

/** Returns the SHA-256 of the content of upload number `index`. */
export function digestOf(index: number, bytes: number): string {
  const key = `${index % VARIANTS} ${bytes}`;
  let digest = digests.get(key);
  if (digest === undefined) {
    const hash = createHash("sha256");
    for (const piece of contentOf(index, bytes)) hash.update(piece);
    digests.set(key, digest = hash.digest("hex"));
  }
  return digest;
}
