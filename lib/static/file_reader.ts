import type { FileHandle } from "node:fs/promises";
import type { FileParts } from "./answer.ts";

/** How much is read at once, in bytes. */
export const PIECE: number = 128 * 1024;

/** Reads parts of an open file, and what goes between them, piece by piece; closes it at the end, or when told to. */
export class FileReader {
  readonly #handle: FileHandle;
  readonly #name: string;
  readonly #parts: FileParts["parts"];
  #index = 0;
  #offset = 0;
  #closing: Promise<void> | undefined;

  constructor(handle: FileHandle, { variant, parts }: FileParts) {
    this.#handle = handle;
    this.#name = variant.representation.file;
    this.#parts = parts;
  }

  /**
   * Reads the next bytes into `buffer`.
   *
   * @returns how many; 0 at the end, when the file is closed.
   * @throws {Error} if the file ends before its part does: it was changed.
   */
  async read(buffer: Uint8Array): Promise<number> {
    const part = this.#parts[this.#index];
    if (part === undefined) {
      await this.close();
      return 0;
    }
    const length = part instanceof Uint8Array ? this.#copy(part, buffer) : await this.#readFile(part, buffer);
    return length === 0 ? this.read(buffer) : length;
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#closing ??= this.#handle.close();
  }

  #copy(bytes: Uint8Array, buffer: Uint8Array): number {
    const piece = bytes.subarray(this.#offset, this.#offset + buffer.length);
    buffer.set(piece);
    this.#advance(piece.length, bytes.length);
    return piece.length;
  }

  async #readFile({ start, end }: { start: number; end: number }, buffer: Uint8Array): Promise<number> {
    const wanted = Math.min(buffer.length, end - start - this.#offset);
    if (wanted > 0) {
      const { bytesRead } = await this.#handle.read(buffer, 0, wanted, start + this.#offset);
      if (bytesRead === 0) throw new Error(`${this.#name} was cut short while it was sent: replace files by renaming`);
      this.#advance(bytesRead, end - start);
      return bytesRead;
    }
    this.#advance(0, end - start);
    return 0;
  }

  #advance(length: number, total: number): void {
    this.#offset += length;
    if (this.#offset < total) return;
    this.#index++;
    this.#offset = 0;
  }
}
