import { textOrBytes } from "./chunk_bytes.ts";
import { LF_OR_CR_ENDS, type LineEnds } from "./line_ends.ts";
import { startOfLongLine } from "./long_line.ts";
import { UnfinishedLine } from "./unfinished_line.ts";

/** A chunk of text, or of its bytes in UTF-8. */
export type TextChunk = string | ArrayBuffer | ArrayBufferView;

/** The most bytes that are decoded at once, unless one line has more: no string can hold a chunk of any size. */
const PIECE = 16 * 1024 * 1024;
/** The bytes of the longest ending. */
const CRLF = 2;
/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const UNIT = 3;
/** A longer line that came as text is kept as bytes: as a rope of small strings it would take many times its size. */
const KEPT_AS_TEXT = 16 * 1024;

/** Options of the lines that are made complete. */
export interface CompleteLinesOptions {
  /** The endings of lines. */
  readonly ends: LineEnds;
  /** The most bytes that a line may have, its ending not counted. */
  readonly maxLength: number;
  /** The error of a line that has more. */
  readonly tooLong: () => Error;
  /** The error of a line with more bytes than a buffer or a string can hold. */
  readonly tooLarge: (length: number, kind: string, cause: unknown) => Error;
  /** Takes the text of all lines that are complete in a chunk, with their endings, or of some of them. */
  readonly take: (text: string) => void;
}

/**
 * Makes the text of complete lines of chunks that are cut anywhere, bytes and strings in any mix.
 *
 * All lines that are complete in a chunk are decoded in one piece, or a few if they are many. A piece ends where a line
 * does, never within a character, so the decoder need not know the next one: that is twice as fast as its streaming mode
 * where text is not all ASCII. Strings are not encoded, unless a line in them is long.
 */
export class CompleteLines {
  readonly #options: CompleteLinesOptions;
  readonly #unfinished = new UnfinishedLine();
  /** The unfinished line if it came as text, in place of its bytes. */
  #rest = "";
  /** The first half of a character at the end of the last string. */
  #half = "";
  /** It keeps byte order marks: only the one at the start of it all is to be dropped. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #encoder: TextEncoder | undefined;
  #hasStarted = false;

  constructor(options: CompleteLinesOptions) {
    this.#options = options;
  }

  /**
   * Takes a chunk, and hands on the lines that are complete.
   *
   * @throws {TypeError} if it is neither text nor bytes.
   * @throws what `tooLong` and `tooLarge` give, and `take` throws.
   */
  add(chunk: unknown): void {
    const textOrBytesOfChunk = textOrBytes(chunk);
    if (typeof textOrBytesOfChunk === "string") return this.#addText(textOrBytesOfChunk);
    this.#keepAsBytes();
    this.#addBytes(textOrBytesOfChunk);
  }

  /** Returns the last line, which has no ending other than a CR. */
  end(): string {
    const { ends, maxLength } = this.#options;
    this.#keepAsBytes();
    const bytes = this.#unfinished.bytes;
    const endsAtCR = ends === LF_OR_CR_ENDS && this.#unfinished.endsWithCR;
    if (bytes.length - Number(endsAtCR) > maxLength) throw this.#options.tooLong();
    const line = this.#decode(bytes);
    this.#unfinished.clear();
    return line;
  }

  #addBytes(bytes: Uint8Array): void {
    const { ends } = this.#options;
    let rest = bytes;
    if (this.#unfinished.length > 0) {
      const first = ends.first(rest, this.#unfinished.endsWithCR);
      if (first === -1) return this.#keep(rest);
      this.#append(rest.subarray(0, first));
      this.#takeLines(this.#unfinished.bytes);
      this.#unfinished.clear();
      rest = rest.subarray(first);
    }
    const last = ends.last(rest);
    for (let at = 0; at < last;) {
      const piece = this.#pieceOf(rest.subarray(at, last));
      this.#takeLines(piece);
      at += piece.length;
    }
    this.#keep(rest.subarray(last));
  }

  #addText(chunk: string): void {
    const { ends, maxLength } = this.#options;
    let text = this.#half + chunk;
    this.#half = "";
    if (isFirstHalf(text.charCodeAt(text.length - 1))) {
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text === "") return;
    // Only of bytes it is known how many a line has.
    if (this.#unfinished.length > 0 || (this.#rest.length + text.length) * UNIT > maxLength) {
      this.#keepRestAsBytes();
      return this.#addBytes(this.#encode(text));
    }
    const last = ends.lastInText(text);
    if (last > 0 || (ends === LF_OR_CR_ENDS && this.#rest.endsWith("\r"))) {
      const lines = this.#rest + text.slice(0, last);
      this.#rest = text.slice(last);
      this.#options.take(this.#withoutMark(lines.toWellFormed()));
    } else {
      this.#rest += text;
    }
    if (this.#rest.length > KEPT_AS_TEXT) this.#keepRestAsBytes();
  }

  /** Switches from text to bytes. */
  #keepAsBytes(): void {
    this.#keepRestAsBytes();
    if (this.#half === "") return;
    const half = this.#encode(this.#half);
    this.#half = "";
    this.#addBytes(half);
  }

  #keepRestAsBytes(): void {
    if (this.#rest === "") return;
    const rest = this.#encode(this.#rest);
    this.#rest = "";
    this.#keep(rest);
  }

  #encode(text: string): Uint8Array {
    this.#encoder ??= new TextEncoder();
    return this.#encoder.encode(text);
  }

  /** As many lines of some as are to be decoded at once. */
  #pieceOf(lines: Uint8Array): Uint8Array {
    if (lines.length <= PIECE) return lines;
    const { ends } = this.#options;
    const end = ends.last(lines.subarray(0, PIECE)) || ends.first(lines, false);
    return end === -1 ? lines : lines.subarray(0, end);
  }

  /** Hands on complete lines, but for one that is too long and those behind it. */
  #takeLines(bytes: Uint8Array): void {
    const { ends, maxLength, tooLong } = this.#options;
    const end = startOfLongLine(bytes, maxLength, ends);
    this.#options.take(this.#decode(end === -1 ? bytes : bytes.subarray(0, end)));
    if (end !== -1) throw tooLong();
  }

  /** Keeps what is behind the last end. */
  #keep(bytes: Uint8Array): void {
    this.#append(bytes);
    const { maxLength, tooLong } = this.#options;
    // A CR may belong to the ending.
    if (this.#unfinished.length - Number(this.#unfinished.endsWithCR) > maxLength) throw tooLong();
  }

  #append(bytes: Uint8Array): void {
    const length = this.#unfinished.length + bytes.length;
    if (length > this.#options.maxLength + CRLF) throw this.#options.tooLong();
    try {
      this.#unfinished.append(bytes);
    } catch (cause) {
      throw this.#options.tooLarge(length, "a buffer", cause);
    }
  }

  #decode(bytes: Uint8Array): string {
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch (cause) {
      throw this.#options.tooLarge(bytes.length, "a string", cause);
    }
    return this.#withoutMark(text);
  }

  #withoutMark(text: string): string {
    if (this.#hasStarted) return text;
    this.#hasStarted = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

/** Whether a code unit is the first half of a surrogate pair. */
function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
