import {
  acquireArray,
  ARRAY_LENGTH,
  bytesOf,
  described,
  enqueueAll,
  func,
  schema,
  type SchemaOf,
} from "../streams/internal.ts";
import { type Transformer, TransformStream, type TransformStreamDefaultController } from "../streams/mod.ts";
import { type InvalidLine, invalidLineError, MAX_NUMBER_LENGTH, NumberParser } from "./number_parser.ts";

const LF = 10;
const CR = 13;
const ZERO = 48;
/** The maximum digits of a number that fits into 32 bits for certain. */
const MAX_DIGITS = 9;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];
/** The bytes of a line that suffice to recognize it as too long, even after a byte order mark. */
const MAX_COLLECTED = MAX_NUMBER_LENGTH + BYTE_ORDER_MARK.length + 1;

type OnInvalid = NonNullable<LineToNumberStreamOptions["onInvalid"]>;

/** Converts lines to numbers: those of a few digits, the usual case, digit by digit, others as a whole. */
class NumberReader implements Transformer<ArrayBuffer | ArrayBufferView, number> {
  readonly #parser = new NumberParser();
  readonly #onInvalid: OnInvalid | undefined;
  #controller: TransformStreamDefaultController<number> = undefined as never; // set by start()
  /** Numbers to enqueue in one call, and their count. Calls with 64 numbers each take a fifth more time. */
  #numbers = acquireArray() as number[];
  #count = 0;
  #line = 1;
  /** The bytes of the unfinished line so far. */
  readonly #bytes = new Uint8Array(MAX_COLLECTED);
  #length = 0;
  /** Whether the unfinished line is too long: it was reported, and its rest is skipped. */
  #isSkipped = false;

  constructor(onInvalid: OnInvalid | undefined) {
    this.#onInvalid = onInvalid;
  }

  start(controller: TransformStreamDefaultController<number>): void {
    this.#controller = controller;
  }

  transform(chunk: ArrayBuffer | ArrayBufferView): void {
    const bytes = bytesOfChunk(chunk);
    try {
      this.#readLines(bytes, this.#length === 0 ? 0 : this.#resume(bytes, 0));
    } finally {
      this.#enqueue(); // also the numbers before an invalid line
    }
  }

  flush(): void {
    if (this.#length > 0 && !this.#isSkipped) this.#readLine(this.#bytes, 0, this.#length);
    this.#enqueue();
  }

  #add(number: number): void {
    this.#numbers[this.#count++] = number;
    if (this.#count < ARRAY_LENGTH) return;
    const numbers = this.#numbers;
    this.#numbers = acquireArray() as number[];
    this.#count = 0;
    enqueueAll(this.#controller, numbers);
  }

  #enqueue(): void {
    if (this.#count === 0) return;
    const numbers = this.#numbers.slice(0, this.#count);
    this.#count = 0;
    enqueueAll(this.#controller, numbers);
  }

  #readLines(bytes: Uint8Array, from: number): void {
    const { length } = bytes;
    for (let start = from; start < length;) {
      let value = 0;
      let byte = 0;
      let at = start;
      for (; at < length; at++) {
        byte = bytes[at];
        const digit = byte - ZERO;
        if (digit >>> 0 > 9) break;
        value = (Math.imul(value, 10) + digit) | 0;
      }
      const isPlain = at > start && at - start <= MAX_DIGITS;
      if (isPlain && byte === LF) {
        start = at + 1;
      } else if (isPlain && byte === CR && at + 1 < length && bytes[at + 1] === LF) {
        start = at + 2;
      } else {
        start = this.#readOther(bytes, start, at);
        continue;
      }
      this.#line++;
      this.#add(value);
    }
  }

  /** Reads a line that is not plain up to `at`, or collects its bytes if its end is missing; returns the next line's start. */
  #readOther(bytes: Uint8Array, start: number, at: number): number {
    let end = at;
    while (end < bytes.length && bytes[end] !== LF) end++; // the line feed is near: a loop is faster than a call
    if (end === bytes.length) return this.#resume(bytes, start);
    this.#readLine(bytes, start, end);
    return end + 1;
  }

  /** Continues an unfinished line; returns the next line's start. */
  #resume(bytes: Uint8Array, from: number): number {
    const feed = bytes.indexOf(LF, from);
    const end = feed === -1 ? bytes.length : feed;
    if (!this.#isSkipped) this.#collect(bytes.subarray(from, end));
    if (feed === -1) return end;
    if (!this.#isSkipped) this.#readLine(this.#bytes, 0, this.#length);
    this.#length = 0;
    this.#isSkipped = false;
    return feed + 1;
  }

  #collect(bytes: Uint8Array): void {
    const some = bytes.subarray(0, MAX_COLLECTED - this.#length);
    this.#bytes.set(some, this.#length);
    this.#length += some.length;
    if (this.#length < MAX_COLLECTED) return;
    this.#isSkipped = true;
    this.#readLine(this.#bytes, 0, this.#length);
  }

  /** Reads a whole line, or as much as shows that it is too long. */
  #readLine(bytes: Uint8Array, from: number, to: number): void {
    const line = this.#line++;
    const hasMark = line === 1 && BYTE_ORDER_MARK.every((byte, index) => bytes[from + index] === byte);
    const start = hasMark ? from + BYTE_ORDER_MARK.length : from;
    const isTooLong = to - start > MAX_NUMBER_LENGTH;
    const parser = this.#parser;
    const number = parser.parse(bytes, start, isTooLong ? start + MAX_NUMBER_LENGTH : to);
    const reason = reasonAgainst(number, parser, isTooLong);
    if (reason === undefined) {
      if (!parser.isBlank) this.#add(number);
      return;
    }
    const at = reason === "malformed"
      ? parser.failedAt
      : reason === "too long"
      ? start + MAX_NUMBER_LENGTH
      : parser.start;
    const text = new TextDecoder().decode(bytes.subarray(parser.start, parser.end));
    const inPlace = this.#inPlaceOf({ line, column: at - start + 1, text, reason });
    if (inPlace !== undefined) this.#add(inPlace);
  }

  #inPlaceOf(invalid: InvalidLine): number | undefined {
    if (this.#onInvalid === undefined) throw invalidLineError(invalid);
    const number = this.#onInvalid(invalid);
    if (number === undefined || typeof number === "number") return number;
    throw new TypeError(`onInvalid must give a number or undefined, not ${described(number)} (line ${invalid.line})`);
  }
}

function reasonAgainst(number: number, parser: NumberParser, isTooLong: boolean): InvalidLine["reason"] | undefined {
  if (Number.isNaN(number) && !parser.isBlank) return "malformed";
  if (isTooLong) return "too long";
  if (Math.abs(number) === Infinity) return "not finite";
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? "too large" : undefined;
}

function bytesOfChunk(chunk: unknown): Uint8Array {
  const bytes = bytesOf(chunk);
  if (bytes !== undefined) return bytes;
  const hint = typeof chunk === "string" ? ": pipe text through a TextEncoderStream first" : "";
  throw new TypeError(`a chunk must be a Uint8Array or another BufferSource, not ${described(chunk)}${hint}`);
}

/**
 * Options of {@linkcode LineToNumberStream}: the handling of invalid lines.
 *
 * @example Skip comments
 * ```ts
 * import { LineToNumberStream, type LineToNumberStreamOptions } from "@millrace/streams/text";
 *
 * const options: LineToNumberStreamOptions = { onInvalid: ({ text }) => text.startsWith("#") ? undefined : NaN };
 * const body = new Response("# small ones\n2\n3\n").body!;
 * for await (const prime of body.pipeThrough(new LineToNumberStream(options))) console.log(prime); // 2, 3
 * ```
 */
export interface LineToNumberStreamOptions {
  /**
   * Called with each invalid line: one that is malformed, longer than 1,024 bytes, infinite as a double, or beyond 2^53
   * - 1 in magnitude. The returned number replaces the line; `undefined` skips it.
   *
   * @default the stream fails with an error that names line and column
   */
  readonly onInvalid?: (invalid: InvalidLine) => number | undefined;
}

export const lineToNumberStreamOptions: SchemaOf<LineToNumberStreamOptions> = /* @__PURE__ */ schema(
  "LineToNumberStream",
  () => ({ onInvalid: func<OnInvalid>() }),
);

/**
 * Takes the bytes of lines that hold a number each, and gives the numbers, one a chunk.
 *
 * A number is written as in JavaScript: decimal digits with, where needed, a sign, decimals and an exponent. Each
 * becomes the nearest double. Spaces, tabs and CRs around it are ignored, and so are blank lines and a byte order mark
 * at the start; the last line needs no line feed. Bytes may be cut into chunks anywhere.
 *
 * @example Numbers of lines that are cut anywhere
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { LineToNumberStream } from "@millrace/streams/text";
 *
 * const bytes = ReadableStream.from(["1\n-2.", "5\n\n3e2"]).pipeThrough(new TextEncoderStream());
 * for await (const number of bytes.pipeThrough(new LineToNumberStream())) console.log(number); // 1, -2.5, 300
 * ```
 */
export class LineToNumberStream extends TransformStream<ArrayBuffer | ArrayBufferView, number> {
  /**
   * Creates a stream of numbers.
   *
   * The stream, not this call, fails with a TypeError on a malformed line or a chunk that is neither a view nor a
   * buffer, and with a RangeError on a number that is not finite or beyond 2^53 - 1.
   *
   * @throws {TypeError} if `onInvalid` is not a function, or an option is unknown.
   */
  constructor(options: LineToNumberStreamOptions = {}) {
    super(new NumberReader(lineToNumberStreamOptions(options).onInvalid));
  }
}
