import { copiesVectors } from "../runtime/mod.ts";

/** A target of writes, each of which returns how many bytes it took. */
export interface Taker {
  write(piece: Uint8Array, start: number, length: number): Promise<number>;
  writev(pieces: readonly Uint8Array[]): Promise<number>;
}

/** Most pieces of one call: what systems allow. */
const MAX_PIECES = 1024;
/** Bytes of a piece from which on, where vectors are copied, a call of its own costs less: a third, and no garbage. */
const LARGE_PIECE = 8192;

/**
 * Appends all bytes of `pieces` to a file, with one call of the system where it takes them all at once.
 *
 * @throws {Error} what the file system says, with its `code`; some of the bytes may be written then.
 */
export async function writeFully(file: Taker, pieces: readonly Uint8Array[]): Promise<void> {
  if (pieces.length <= MAX_PIECES) return await writeVector(file, pieces);
  for (let i = 0; i < pieces.length; i += MAX_PIECES) await writeVector(file, pieces.slice(i, i + MAX_PIECES));
}

async function writeVector(file: Taker, pieces: readonly Uint8Array[]): Promise<void> {
  // A disk that fills up takes a part first, and refuses the rest.
  let written = pieces.length > 1 && !(copiesVectors && areLarge(pieces)) ? await file.writev(pieces) : 0;
  for (const piece of pieces) {
    if (written < piece.length) await writePiece(file, piece, written);
    written = Math.max(0, written - piece.length);
  }
}

async function writePiece(file: Taker, piece: Uint8Array, from: number): Promise<void> {
  for (let start = from; start < piece.length;) {
    start += await file.write(piece, start, piece.length - start);
  }
}

function areLarge(pieces: readonly Uint8Array[]): boolean {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length >= pieces.length * LARGE_PIECE;
}
