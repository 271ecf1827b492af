const CR = 13;
const SMALLEST = 256;
/** The most bytes that are kept for the next line: one long line does not hold its memory for ever. */
const KEPT = 64 * 1024;

/**
 * The bytes of a line whose end has not come, copied into one buffer that doubles when it is full: a chunk may be
 * overwritten once it was taken, and an array for each would take more memory than small chunks themselves.
 */
export class UnfinishedLine {
  length = 0;
  #buffer = new Uint8Array(0);

  /** Whether the last byte is a CR. */
  get endsWithCR(): boolean {
    return this.length > 0 && this.#buffer[this.length - 1] === CR;
  }

  /** A view of all bytes, until the next change. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /** @throws {RangeError} if the runtime has no buffer that is large enough. */
  append(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#buffer.length) this.#replace(Math.max(length, 2 * this.#buffer.length, SMALLEST));
    this.#buffer.set(bytes, this.length);
    this.length = length;
  }

  /** Forgets all bytes. */
  clear(): void {
    this.length = 0;
    if (this.#buffer.length > KEPT) this.#replace(0);
  }

  /** Moves the bytes into another buffer. The old one is detached: its memory is free now, not when it is collected. */
  #replace(capacity: number): void {
    const old = this.#buffer;
    this.#buffer = new Uint8Array(capacity);
    this.#buffer.set(old.subarray(0, this.length));
    old.buffer.transfer(0);
  }
}
