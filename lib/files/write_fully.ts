import { copiesVectors } from "../runtime/mod.ts";
import { bytesOf, wrongType } from "../streams/internal.ts";

/** The maximum bytes of one call: systems take less than 2 GiB, and runtimes refuse larger ones. */
export const MAX_CALL_SIZE: number = 1024 * 1024 * 1024;

/** A target of writes, each of which returns the number of bytes it took. */
export interface Taker {
  write(piece: Uint8Array, start: number, length: number): Promise<number>;
  writev(pieces: readonly Uint8Array[]): Promise<number>;
}

/** The maximum number of pieces in one call, by the systems' limit. */
export const MAX_PIECES = 1024;
/** The size in bytes from which a separate call for a piece costs less if vectors are copied: a third, and no garbage. */
const LARGE_PIECE = 8192;

/** Appends all bytes of `pieces`, with one system call if that takes them all; after a failure, some may be written. */
export async function writeFully(file: Taker, given: readonly Uint8Array[]): Promise<void> {
  const pieces = requirePieces(given);
  if (pieces.length <= MAX_PIECES) return await writeVector(file, pieces);
  for (let i = 0; i < pieces.length; i += MAX_PIECES) await writeVector(file, pieces.slice(i, i + MAX_PIECES));
}

/** @throws {TypeError} if a piece is not bytes, or is detached: the system would silently skip it. */
export function requirePieces(pieces: readonly unknown[]): readonly Uint8Array[] {
  if (pieces.every((piece) => piece instanceof Uint8Array && piece.length > 0)) return pieces as readonly Uint8Array[];
  return pieces.map((piece) => {
    const bytes = bytesOf(piece);
    if (bytes === undefined) throw wrongType("what is written", "a Uint8Array, another view or an ArrayBuffer", piece);
    return bytes;
  });
}

async function writeVector(file: Taker, pieces: readonly Uint8Array[]): Promise<void> {
  // A disk that becomes full takes a part first, and refuses the rest.
  const written = pieces.length > 1 && !(copiesVectors && areLarge(pieces)) ? await file.writev(pieces) : 0;
  for (const piece of behind(pieces, written)) {
    for (let start = 0; start < piece.length;) {
      start += await file.write(piece, start, Math.min(piece.length - start, MAX_CALL_SIZE));
    }
  }
}

export function behind(pieces: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  if (count === 0) return pieces;
  const left: Uint8Array[] = [];
  let skipped = count;
  for (const piece of pieces) {
    if (skipped < piece.length) left.push(piece.subarray(skipped));
    skipped = Math.max(0, skipped - piece.length);
  }
  return left;
}

function areLarge(pieces: readonly Uint8Array[]): boolean {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length >= pieces.length * LARGE_PIECE;
}
