import type { FileHandle } from "node:fs/promises";

/**
 * Appends all bytes of `pieces` to a file, with one call of the system where it takes them all at once.
 *
 * @throws {Error} what the file system says, with its `code`; some of the bytes may be written then.
 */
export async function writeFully(handle: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  // A disk that fills up takes a part first, and refuses the rest.
  let written = pieces.length > 1 ? (await handle.writev(pieces as Uint8Array[])).bytesWritten : 0;
  for (const piece of pieces) {
    if (written < piece.length) await writePiece(handle, piece, written);
    written = Math.max(0, written - piece.length);
  }
}

async function writePiece(handle: FileHandle, piece: Uint8Array, from: number): Promise<void> {
  for (let start = from; start < piece.length;) {
    const { bytesWritten } = await handle.write(piece, start, piece.length - start);
    start += bytesWritten;
  }
}
