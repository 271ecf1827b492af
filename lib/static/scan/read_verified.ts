import { closeSync } from "node:fs";
import { openToRead, PIECE, piece, readFully, sha256 } from "./file_bytes.ts";
import type { Representation } from "./representation.ts";

/**
 * The bytes of a representation, read at once; undefined if they are not, or not any more, what the scan found: all of
 * the file must have that hash, whatever its time says. They are valid until the next file is read.
 */
export function readVerified({ file, size, sha256: expected }: Representation): Uint8Array<ArrayBuffer> | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openToRead(file);
    // One byte more is asked for, so that a file that grew is seen. To look at it first takes Deno as long again.
    const space = size < PIECE ? piece : new Uint8Array(size + 1);
    if (readFully(descriptor, space, size + 1) !== size) return undefined;
    const bytes = space.subarray(0, size);
    return sha256(bytes) === expected ? bytes : undefined;
  } catch {
    return undefined; // it is gone, or cannot be read any more
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
