import { Buffer } from "node:buffer";

const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** Cuts text that comes in any pieces behind its lines, so that files of a series begin with a line. */
export class WholeLines {
  readonly #longest: number;
  /** Memory for the beginning of a line whose end has not come, and its bytes. */
  #memory: Buffer = NOTHING;
  #length = 0;

  /** @param longest Most bytes of a line that are kept for its end. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Takes text; calls `emit` with whole lines, some in a piece. */
  add(text: string | Uint8Array, emit: (piece: string | Uint8Array) => void): void {
    if (typeof text === "string" && this.#length === 0 && text.endsWith("\n")) return emit(text);
    let bytes: Buffer = Buffer.from(text as string); // a copy: the caller may use its bytes again
    if (this.#length > 0) {
      const feed = bytes.indexOf(LINE_FEED) + 1;
      this.#keep(bytes.subarray(0, feed || bytes.length));
      bytes = bytes.subarray(feed || bytes.length);
      if (feed > 0) this.end(emit);
    }
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) emit(bytes.subarray(0, end));
    this.#keep(bytes.subarray(end));
    if (this.#length >= this.#longest) this.end(emit);
  }

  /** Gives the beginning of a line that has not ended. */
  end(emit: (piece: Uint8Array) => void): void {
    if (this.#length > 0) emit(this.#memory.subarray(0, this.#length));
    this.#memory = NOTHING;
    this.#length = 0;
  }

  /** Keeps bytes of a line. The memory doubles when it is full: a long line that comes in small pieces is copied twice. */
  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    bytes.copy(this.#memory, this.#length);
    this.#length = length;
  }
}
