import type { FileHandle } from "node:fs/promises";

/**
 * Appends all bytes of `pieces` to a file, with one call of the system where it takes them all at once.
 *
 * @throws {Error} what the file system says, with its `code`; some of the bytes may be written then.
 */
export async function writeFully(handle: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  if (pieces.length !== 1) {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    let { bytesWritten } = await handle.writev(pieces as Uint8Array[]);
    if (bytesWritten === length) return;
    // A disk that fills up takes a part first, and refuses the rest.
    for (const piece of pieces) {
      if (bytesWritten < piece.length) await writePiece(handle, piece, bytesWritten);
      bytesWritten = Math.max(0, bytesWritten - piece.length);
    }
  } else {
    await writePiece(handle, pieces[0], 0);
  }
}

async function writePiece(handle: FileHandle, piece: Uint8Array, from: number): Promise<void> {
  for (let start = from; start < piece.length;) {
    const { bytesWritten } = await handle.write(piece, start, piece.length - start);
    start += bytesWritten;
  }
}
