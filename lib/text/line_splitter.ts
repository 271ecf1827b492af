import { enqueueAll, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { bytesOfChunk } from "./chunk_bytes.ts";
import { LF_ENDS, LF_OR_CR_ENDS, type LineEnds } from "./line_ends.ts";
import { startOfLongLine } from "./long_line.ts";
import { UnfinishedLine } from "./unfinished_line.ts";

/** The most bytes that are decoded at once, unless one line has more: no string can hold a chunk of any size. */
const PIECE = 16 * 1024 * 1024;
/** The bytes of the longest ending. */
const CRLF = 2;

/**
 * Makes lines of bytes. All lines that are complete in a chunk are decoded in one piece, or a few if they are many,
 * which are cut as text. A piece ends where a line does, never within a character, so the decoder need not know the next
 * one: that is twice as fast as its streaming mode where text is not all ASCII.
 */
export class LineSplitter extends ReleasingTransformer implements Transformer<ArrayBuffer | ArrayBufferView, string> {
  readonly #ends: LineEnds;
  readonly #maxLineLength: number;
  readonly #unfinished = new UnfinishedLine();
  /** It keeps byte order marks: only the one at the start of it all is to be dropped. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #hasStarted = false;
  /** How many lines have been enqueued. */
  #lines = 0;

  constructor(allowCR: boolean, maxLineLength: number) {
    super();
    this.#ends = allowCR ? LF_OR_CR_ENDS : LF_ENDS;
    this.#maxLineLength = maxLineLength;
  }

  transform(chunk: ArrayBuffer | ArrayBufferView, controller: TransformStreamDefaultController<string>): void {
    let bytes = bytesOfChunk(chunk);
    if (this.#unfinished.length > 0) {
      const first = this.#ends.first(bytes, this.#unfinished.endsWithCR);
      if (first === -1) return this.#keep(bytes);
      this.#append(bytes.subarray(0, first));
      this.#enqueueLines(this.#unfinished.bytes, controller);
      this.#unfinished.clear();
      bytes = bytes.subarray(first);
    }
    const last = this.#ends.last(bytes);
    for (let at = 0; at < last;) {
      const piece = this.#pieceOf(bytes.subarray(at, last));
      this.#enqueueLines(piece, controller);
      at += piece.length;
    }
    this.#keep(bytes.subarray(last));
  }

  flush(controller: TransformStreamDefaultController<string>): void {
    const bytes = this.#unfinished.bytes;
    const endsAtCR = this.#ends === LF_OR_CR_ENDS && this.#unfinished.endsWithCR;
    if (bytes.length - Number(endsAtCR) > this.#maxLineLength) throw this.#tooLong();
    const line = this.#decode(bytes);
    this.#unfinished.clear();
    if (endsAtCR) controller.enqueue(line.slice(0, -1));
    else if (line !== "") controller.enqueue(line);
  }

  /** As many lines of some as are to be decoded at once. */
  #pieceOf(lines: Uint8Array): Uint8Array {
    if (lines.length <= PIECE) return lines;
    const end = this.#ends.last(lines.subarray(0, PIECE)) || this.#ends.first(lines, false);
    return end === -1 ? lines : lines.subarray(0, end);
  }

  /** Enqueues complete lines, but for one that is too long and those behind it. */
  #enqueueLines(bytes: Uint8Array, controller: TransformStreamDefaultController<string>): void {
    const end = startOfLongLine(bytes, this.#maxLineLength, this.#ends);
    const lines = this.#ends.cut(this.#decode(end === -1 ? bytes : bytes.subarray(0, end)));
    this.#lines += lines.length;
    enqueueAll(controller, lines);
    if (end !== -1) throw this.#tooLong();
  }

  /** Keeps what is behind the last end. */
  #keep(bytes: Uint8Array): void {
    this.#append(bytes);
    // A CR may belong to the ending.
    if (this.#unfinished.length - Number(this.#unfinished.endsWithCR) > this.#maxLineLength) throw this.#tooLong();
  }

  #append(bytes: Uint8Array): void {
    const length = this.#unfinished.length + bytes.length;
    if (length > this.#maxLineLength + CRLF) throw this.#tooLong();
    try {
      this.#unfinished.append(bytes);
    } catch (cause) {
      throw this.#tooLarge(length, "a buffer", cause);
    }
  }

  #decode(bytes: Uint8Array): string {
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch (cause) {
      throw this.#tooLarge(bytes.length, "a string", cause);
    }
    if (this.#hasStarted) return text;
    this.#hasStarted = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  #tooLong(): RangeError {
    const limit = this.#maxLineLength;
    return new RangeError(`line ${this.#lines + 1} is longer than ${limit} bytes: raise maxLineLength if it may be`);
  }

  #tooLarge(length: number, kind: string, cause: unknown): RangeError {
    const what = `line ${this.#lines + 1} has at least ${length} bytes, more than ${kind} can hold here`;
    return new RangeError(`${what}: lower maxLineLength to refuse it earlier`, { cause });
  }
}
