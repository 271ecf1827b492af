import { joinBytes } from "../streams/internal.ts";

const CR = 13;

/** The bytes of a line whose end has not come, in copies: a chunk may be overwritten once it was taken. */
export class UnfinishedLine {
  length = 0;
  #pieces: Uint8Array[] = [];

  /** Whether the last byte is a CR. */
  get endsWithCR(): boolean {
    return this.#pieces.at(-1)?.at(-1) === CR;
  }

  append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push(new Uint8Array(bytes)); // no slice(): a Buffer's is no copy
    this.length += bytes.length;
  }

  /** Returns all bytes, and forgets them. */
  take(): Uint8Array {
    const pieces = this.#pieces;
    const whole = pieces.length === 1 ? pieces[0] : joinBytes(pieces, this.length);
    this.#pieces = [];
    this.length = 0;
    return whole;
  }
}
