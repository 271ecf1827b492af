import { Buffer } from "node:buffer";

/** Bytes of a piece, unless a line is longer. */
const PIECE_SIZE = 64 * 1024;
/** Most bytes of UTF-8 for a unit of a string. */
const UTF8_WIDTH = 3;
const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** Cuts text that comes in any pieces behind its lines, so that files of a series begin with a line. */
export class WholeLines {
  readonly #longest: number;
  readonly #size: number;
  /** Memory for the beginning of a line whose end has not come, and its bytes. */
  #memory: Buffer = NOTHING;
  #length = 0;

  /** @param longest Most bytes of a piece: what is longer is cut anywhere. */
  constructor(longest: number) {
    this.#longest = longest;
    this.#size = Math.min(longest, PIECE_SIZE);
  }

  /** Takes text; calls `emit` with whole lines, some in a piece. */
  add(text: string | Uint8Array, emit: (piece: string | Uint8Array) => void): void {
    if (typeof text === "string" && this.#length === 0 && text.length * UTF8_WIDTH <= this.#size) {
      if (text.endsWith("\n")) return emit(text); // a line as it comes of a logger
    }
    let bytes: Buffer = Buffer.from(text as string); // a copy: the caller may use its bytes again
    while (this.#length > 0 && bytes.length > 0) bytes = this.#continue(bytes, emit);
    for (let end = this.#endOf(bytes); end > 0; end = this.#endOf(bytes)) {
      emit(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
    if (bytes.length > 0) this.#keep(bytes);
  }

  /** Gives the beginning of a line that has not ended. */
  end(emit: (piece: Uint8Array) => void): void {
    if (this.#length > 0) emit(this.#memory.subarray(0, this.#length));
    this.#memory = NOTHING;
    this.#length = 0;
  }

  /** Goes on with a line that has begun, as far as it goes; returns the bytes behind. */
  #continue(bytes: Buffer, emit: (piece: Uint8Array) => void): Buffer {
    const room = this.#longest - this.#length;
    const feed = bytes.subarray(0, room).indexOf(LINE_FEED);
    const length = feed === -1 ? Math.min(room, bytes.length) : feed + 1;
    this.#keep(bytes.subarray(0, length));
    if (feed !== -1 || this.#length === this.#longest) this.end(emit);
    return bytes.subarray(length);
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

  /** The length of the next piece; 0 if no line has ended. */
  #endOf(bytes: Buffer): number {
    const end = bytes.lastIndexOf(LINE_FEED, this.#size - 1) + 1;
    if (end > 0 || bytes.length < this.#size) return end;
    const long = bytes.subarray(0, this.#longest).indexOf(LINE_FEED, this.#size) + 1;
    return long > 0 || bytes.length < this.#longest ? long : this.#longest;
  }
}
