import { bytesOf, described, enqueueAll, hasBackpressure, transformRest } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { LF_OR_CR_ENDS, type LineEnds, startOfLongLine } from "./line_ends.ts";

const CR = 13;

const MIN_BUFFER = 256;

/** A byte buffer that doubles when it is full. It copies: chunks may be reused, and an array of them takes more memory. */
export class GrowingBytes {
  length = 0;
  #buffer = new Uint8Array(0);
  readonly #kept: number;

  /** @param kept The maximum capacity that `clear()` keeps. */
  constructor(kept: number = 64 * 1024) {
    this.#kept = kept;
  }

  /** A view of all bytes, until the next change. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.length);
  }

  get last(): number | undefined {
    return this.#buffer[this.length - 1]; // the view `bytes` would cost as much as a short chunk of lines
  }

  /** Returns the buffer, with room for `size` bytes from `length` on. @throws {RangeError} if none is that large. */
  room(size: number): Uint8Array<ArrayBuffer> {
    const length = this.length + size;
    if (length > this.#buffer.length) this.#replace(Math.max(length, 2 * this.#buffer.length, MIN_BUFFER));
    return this.#buffer;
  }

  append(bytes: Uint8Array): void {
    this.room(bytes.length).set(bytes, this.length);
    this.length += bytes.length;
  }

  clear(): void {
    this.length = 0;
    if (this.#buffer.length > this.#kept) this.#replace(0);
  }

  /** Moves the bytes into another buffer. The old buffer is detached, which frees its memory before garbage collection. */
  #replace(capacity: number): void {
    const old = this.#buffer;
    this.#buffer = new Uint8Array(capacity);
    this.#buffer.set(old.subarray(0, this.length));
    old.buffer.transfer(0);
  }
}

/** The length of V8's longest string: a line of at most as many bytes becomes a string on every runtime. */
export const MAX_STRING_LENGTH: number = 2 ** 29 - 24;

/** A chunk of text, or of its bytes in UTF-8. */
export type TextChunk = string | ArrayBuffer | ArrayBufferView;

/** The maximum bytes decoded at once, unless one line has more: a chunk may be longer than any string. */
const MAX_DECODED = 16 * 1024 * 1024;
const CRLF = 2;
/** The maximum bytes of a UTF-16 code unit in UTF-8. */
export const UNIT = 3;
/** The length from which an unfinished line of text is kept as bytes: a rope of small strings takes many times the memory. */
const KEPT_AS_TEXT = 16 * 1024;

export interface CompleteLinesOptions {
  readonly ends: LineEnds;
  /** The maximum bytes of a line without its ending, and the option that sets the limit. */
  readonly maxLength: number;
  readonly option: string;
  /** Returns the number of the next line, for messages. */
  readonly place: () => string;
  /** Called with the text of complete lines, endings included; one or more times a chunk. */
  readonly take: (text: string) => void;
}

/**
 * Assembles the text of complete lines from chunks that are cut anywhere, bytes and strings in any mix.
 *
 * All complete lines of a chunk are decoded in one piece, or in a few if they are many. A piece ends with a line, never
 * within a character, so the decoder needs no streaming mode: twice as fast where text is not all ASCII. Strings are
 * encoded only if a line in them is long.
 */
export class CompleteLines {
  readonly #options: CompleteLinesOptions;
  readonly #unfinished = new GrowingBytes();
  /** The unfinished line, if it is text rather than bytes. */
  #rest = "";
  /** The high surrogate at the end of the last string. */
  #half = "";
  /** A decoder that keeps byte order marks: only the one at the start of the stream is to be dropped. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #encoder: TextEncoder | undefined;
  #hasStarted = false;

  constructor(options: CompleteLinesOptions) {
    this.#options = options;
  }

  add(chunk: unknown): void {
    const given = textOrBytes(chunk);
    if (typeof given === "string") return this.#addText(given);
    if (given.length === 0) return; // the rest of the character may be in the next string
    this.#keepAsBytes();
    this.#addBytes(given);
  }

  /** Returns the last line: the one without an ending, or with a CR. */
  end(): string {
    const { ends, maxLength } = this.#options;
    this.#keepAsBytes();
    const bytes = this.#unfinished.bytes;
    const endsAtCR = ends === LF_OR_CR_ENDS && this.#unfinished.last === CR;
    if (bytes.length - Number(endsAtCR) > maxLength) throw this.tooLong();
    const line = this.#decode(bytes);
    this.#unfinished.clear();
    return line;
  }

  tooLong(): RangeError {
    const { maxLength, option, place } = this.#options;
    return new RangeError(`${place()} is longer than ${maxLength} bytes: raise ${option} if it may be`);
  }

  /** Returns the error of a line with more bytes than a buffer or a string can hold. */
  #tooLarge(length: number, kind: string, cause: unknown): RangeError {
    const { option, place } = this.#options;
    const what = `${place()} has at least ${length} bytes, more than ${kind} can hold here`;
    return new RangeError(`${what}: lower ${option} to refuse it earlier`, { cause });
  }

  #addBytes(bytes: Uint8Array): void {
    const { ends } = this.#options;
    let rest = bytes;
    if (this.#unfinished.length > 0) {
      const first = ends.first(rest, this.#unfinished.last === CR);
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
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last < 0xdc00) { // the first half of a surrogate pair
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text === "") return;
    // Text has a known length in UTF-8 only once it is encoded.
    if (this.#unfinished.length > 0 || (this.#rest.length + text.length) * UNIT > maxLength) {
      this.#keepRestAsBytes();
      return this.#addBytes(this.#encode(text));
    }
    const end = ends.lastInText(text);
    if (end > 0 || (ends === LF_OR_CR_ENDS && this.#rest.endsWith("\r"))) {
      const lines = this.#rest + text.slice(0, end);
      this.#rest = text.slice(end);
      this.#options.take(this.#withoutMark(lines.toWellFormed()));
    } else {
      this.#rest += text;
    }
    if (this.#rest.length > KEPT_AS_TEXT) this.#keepRestAsBytes();
  }

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

  /** Returns the first part of `lines` to decode at once. */
  #pieceOf(lines: Uint8Array): Uint8Array {
    if (lines.length <= MAX_DECODED) return lines;
    const { ends } = this.#options;
    const end = ends.last(lines.subarray(0, MAX_DECODED)) || ends.first(lines, false);
    return end === -1 ? lines : lines.subarray(0, end);
  }

  /** Passes on complete lines, up to the first one that is too long. */
  #takeLines(bytes: Uint8Array): void {
    const { ends, maxLength } = this.#options;
    const end = startOfLongLine(bytes, maxLength, ends);
    this.#options.take(this.#decode(end === -1 ? bytes : bytes.subarray(0, end)));
    if (end !== -1) throw this.tooLong();
  }

  #keep(bytes: Uint8Array): void {
    this.#append(bytes);
    // A CR may belong to the ending.
    if (this.#unfinished.length - Number(this.#unfinished.last === CR) > this.#options.maxLength) throw this.tooLong();
  }

  #append(bytes: Uint8Array): void {
    const length = this.#unfinished.length + bytes.length;
    if (length > this.#options.maxLength + CRLF) throw this.tooLong();
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
    return this.#withoutMark(text);
  }

  #withoutMark(text: string): string {
    if (this.#hasStarted) return text;
    this.#hasStarted = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

/** Returns a string chunk as it is, and the bytes of any other chunk without a copy. */
export function textOrBytes(chunk: unknown): string | Uint8Array {
  if (typeof chunk === "string") return chunk;
  const bytes = bytesOf(chunk);
  if (bytes !== undefined) return bytes;
  throw new TypeError(`a chunk must be a string, a Uint8Array or another BufferSource, not ${described(chunk)}`);
}

/**
 * The size, in bytes or UTF-16 code units, of the pieces of a chunk: a piece is read once the records of the one before
 * it are taken.
 *
 * Records take some ten times the memory of their text. Those of 256 KiB, the size of a file's chunks, outlive garbage
 * collections, at 1.1 to 1.6 times the peak of memory and 1.2 times the CPU time.
 */
export const CHUNK_SIZE: number = 32 * 1024;

/** A transformer from text to records, which reads a chunk in pieces. */
export abstract class RecordReader<T> implements Transformer<TextChunk, T> {
  #controller: TransformStreamDefaultController<T> = undefined as never; // set by start()
  readonly #piece: number;
  /** Continues the last piece; set if it has more records than one call should enqueue. */
  goOn: (() => void) | undefined = undefined;

  constructor(piece: number = CHUNK_SIZE) {
    this.#piece = piece;
  }

  start(controller: TransformStreamDefaultController<T>): void {
    this.#controller = controller;
  }

  transform(chunk: TextChunk): Promise<never> | undefined {
    const controller = this.#controller as TransformStreamDefaultController<never>;
    const whole = textOrBytes(chunk);
    for (let end = 0; end < whole.length || this.goOn !== undefined;) {
      const goOn = this.goOn ?? (() => this.add(pieceOf(whole, end, end += this.#piece)));
      this.goOn = undefined;
      goOn();
      const isLeft = end < whole.length || this.goOn !== undefined;
      if (isLeft && hasBackpressure(controller)) return transformRest(controller, pieceOf(whole, end, whole.length));
    }
    return undefined;
  }

  /** Reads a piece that is not empty. */
  abstract add(piece: string | Uint8Array): void;

  enqueue(records: T[]): void {
    if (records.length > 0) enqueueAll(this.#controller, records);
  }
}

function pieceOf(whole: string | Uint8Array, from: number, to: number): string | Uint8Array {
  return typeof whole === "string" ? whole.slice(from, to) : whole.subarray(from, to);
}
