import { Buffer } from "node:buffer";

/** Bytes of a piece, unless a line is longer. */
const PIECE_SIZE = 64 * 1024;
/** Most bytes of UTF-8 for a unit of a string. */
const UTF8_WIDTH = 3;
const LINE_FEED = 10;

/** Cuts text that comes in any pieces behind its lines, so that files of a series begin with a line. */
export class WholeLines {
  readonly #longest: number;
  readonly #size: number;
  /** The beginning of a line. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param longest Most bytes of a piece: what is longer is cut anywhere. */
  constructor(longest: number) {
    this.#longest = longest;
    this.#size = Math.min(longest, PIECE_SIZE);
  }

  /** Takes text; calls `emit` with whole lines, some in a piece. */
  add(text: string | Uint8Array, emit: (piece: string | Uint8Array) => void): void {
    if (typeof text === "string" && this.#rest.length === 0 && text.length * UTF8_WIDTH <= this.#size) {
      if (text.endsWith("\n")) return emit(text); // a line as it comes of a logger
    }
    const added = typeof text === "string" ? Buffer.from(text) : text;
    let bytes = this.#rest.length === 0 ? Buffer.from(added) : Buffer.concat([this.#rest, added]);
    for (let end = this.#endOf(bytes); end > 0; end = this.#endOf(bytes)) {
      emit(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }

  /** Gives the beginning of a line that has not ended. */
  end(emit: (piece: Uint8Array) => void): void {
    if (this.#rest.length > 0) emit(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  /** The length of the next piece; 0 if no line has ended. */
  #endOf(bytes: Buffer): number {
    const end = bytes.lastIndexOf(LINE_FEED, this.#size - 1) + 1;
    if (end > 0 || bytes.length < this.#size) return end;
    const long = bytes.subarray(0, this.#longest).indexOf(LINE_FEED, this.#size) + 1;
    return long > 0 || bytes.length < this.#longest ? long : this.#longest;
  }
}
