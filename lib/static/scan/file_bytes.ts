import * as crypto from "node:crypto";
import { constants, openSync, readSync } from "node:fs";

/** How many bytes {@linkcode piece} has. */
export const PIECE: number = 256 * 1024;

/** Memory to read into; what it holds is valid until something is awaited. */
export const piece: Uint8Array<ArrayBuffer> = new Uint8Array(PIECE);

/** A link in the last place is not followed, and a pipe nobody writes to does not block. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens a file to read it, whatever may have come to its place since it was found. */
export function openToRead(path: string): number {
  return openSync(path, FLAGS);
}

/** Reads on until there are `length` bytes at the beginning of `bytes`, or no more. Returns how many there are. */
export function readFully(file: number, bytes: Uint8Array, length: number): number {
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, null);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/** The SHA-256 of `bytes`, in base64. */
export function sha256(bytes: Uint8Array): string {
  if (crypto.hash) return crypto.hash("sha256", bytes, "base64");
  return crypto.createHash("sha256").update(bytes).digest("base64");
}
