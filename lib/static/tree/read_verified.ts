import { closeSync, fstatSync } from "node:fs";
import { openToRead, PIECE, piece, readFully, sha256 } from "./file_bytes.ts";
import type { Representation } from "./representation.ts";

/**
 * The bytes of a representation, read at once; undefined if they are not, or not any more, what the scan found: the
 * file must have that size, that time of change if it is known, and that hash. They are valid until the next file is
 * read.
 */
export function readVerified(representation: Representation): Uint8Array<ArrayBuffer> | undefined {
  const { size, mtimeMs } = representation;
  let file: number | undefined;
  try {
    file = openToRead(representation.file);
    const found = fstatSync(file);
    if (!found.isFile() || found.size !== size || (mtimeMs !== undefined && found.mtimeMs !== mtimeMs)) {
      return undefined;
    }
    // One byte more is asked for, so that a file that grew is seen.
    const space = size < PIECE ? piece : new Uint8Array(size + 1);
    if (readFully(file, space, size + 1) !== size) return undefined;
    const bytes = space.subarray(0, size);
    return sha256(bytes) === representation.sha256 ? bytes : undefined;
  } catch {
    return undefined; // it is gone, or cannot be read any more
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
