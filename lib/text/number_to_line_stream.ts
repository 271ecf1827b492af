import { batchedTransform } from "../batch/internal.ts";
import { asStreamPair, described, refuseOptions } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";

/** The four ASCII digits of numbers below 10,000: a store of 32 bits is twice as fast as one for each digit. */
const FOUR_DIGITS: Uint32Array = new Uint32Array(10_000);
const ZEROS = 0x30303030;
const LINE_FEED = 10;
const MINUS = 45;

/** Fills the table once, at its first use: most programs never format a number. */
function prepareDigits(): void {
  if (FOUR_DIGITS[0] !== 0) return;
  for (let number = 0; number < 10_000; number++) {
    const [thousands, hundreds, tens] = [number / 1000 | 0, (number / 100 | 0) % 10, (number / 10 | 0) % 10];
    FOUR_DIGITS[number] = ZEROS + (thousands | hundreds << 8 | tens << 16 | number % 10 << 24);
  }
}

/** Writes the line of an integer of 32 bits, and returns the offset behind it. May store three bytes more. */
function writeInt32Line(number: number, view: DataView, offset: number): number {
  let at = offset;
  let rest = number;
  if (rest < 0) {
    view.setUint8(at++, MINUS);
    rest = -rest;
  }
  at = writeDigits(rest, view, at);
  view.setUint8(at, LINE_FEED);
  return at + 1;
}

/** Writes a non-negative integer of at most 2^31. */
function writeDigits(number: number, view: DataView, offset: number): number {
  if (number < 10_000) return writeFirstDigits(number, view, offset);
  const high = (number / 10_000) | 0;
  let at = offset;
  if (high < 10_000) {
    at = writeFirstDigits(high, view, at);
  } else {
    const highest = (high / 10_000) | 0;
    at = writeFirstDigits(highest, view, at);
    view.setUint32(at, FOUR_DIGITS[high - highest * 10_000], true);
    at += 4;
  }
  view.setUint32(at, FOUR_DIGITS[number - high * 10_000], true);
  return at + 4;
}

/** Writes a number below 10,000 without leading zeros. */
function writeFirstDigits(number: number, view: DataView, offset: number): number {
  const length = number < 100 ? (number < 10 ? 1 : 2) : (number < 1000 ? 3 : 4);
  view.setUint32(offset, FOUR_DIGITS[number] >>> (32 - 8 * length), true);
  return offset + length;
}

/** Writes exactly eight digits, leading zeros among them, of a number below 10^8. */
function writeEightDigits(number: number, view: DataView, offset: number): number {
  const high = (number / 10_000) | 0;
  view.setUint32(offset, FOUR_DIGITS[high], true);
  view.setUint32(offset + 4, FOUR_DIGITS[number - high * 10_000], true);
  return offset + 8;
}

const ZERO = 48;
const POINT = 46;
const MILLION = 1e6;
/** The limit below which a number with six decimals has at most 15 digits. */
const MAX_SHORT = 1e9;

/** Writes a positive number that is no integer with the digits that `String()` gives it, and returns the offset behind it. */
function writeFraction(number: number, view: DataView, offset: number): number {
  if (number < MAX_SHORT) {
    // Different decimals of at most 15 digits are different doubles: if six decimals make this double, they are the shortest.
    const scaled = Math.round(number * MILLION);
    if (scaled / MILLION === number) return writeSixDecimals(scaled, view, offset);
  }
  return writeText(String(number), view, offset);
}

function writeSixDecimals(scaled: number, view: DataView, offset: number): number {
  const integer = Math.floor(scaled / MILLION);
  let at = writeDigits(integer, view, offset);
  const afterPoint = at + 1;
  // Six digits and two zeros, which do not count; the decimal point goes before them.
  at = writeEightDigits((scaled - integer * MILLION) * 100, view, afterPoint) - 2;
  view.setUint8(afterPoint - 1, POINT);
  while (view.getUint8(at - 1) === ZERO) at--;
  return at;
}

function writeText(text: string, view: DataView, offset: number): number {
  for (let i = 0; i < text.length; i++) view.setUint8(offset + i, text.charCodeAt(i));
  return offset + text.length;
}

/** The most bytes of a number's line, its line feed included. */
export const MAX_LINE_LENGTH = 26; // -0.0000012345678901234567

const EIGHT_DIGITS = 100_000_000;

/** Writes batches of numbers as lines of ASCII digits into bytes, without a string for each. */
export class NumberFormatter {
  /** After a call: the index of the first number of the batch that was not written. */
  next = 0;
  /** After a call: the offset behind the last line. The next three bytes may have changed, too. */
  end = 0;
  /** The count of numbers that all calls have consumed. */
  #taken = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array(0);

  constructor() {
    prepareDigits();
  }

  /** Writes numbers from `from` on while a line surely fits; `next` and `end` hold the progress, even on a throw. */
  format(numbers: readonly unknown[], from: number, bytes: Uint8Array, offset: number): void {
    const view = this.#viewOf(bytes);
    const last = bytes.length - MAX_LINE_LENGTH;
    let index = from;
    let at = offset;
    try {
      for (; index < numbers.length && at <= last; index++) {
        const number = numbers[index];
        if (typeof number === "number" && (number | 0) === number) at = writeInt32Line(number, view, at);
        else if (isWritable(number)) at = writeLine(number, view, at);
        else throw invalid(number, this.#taken + index - from);
      }
    } finally {
      this.next = index;
      this.end = at;
      this.#taken += index - from;
    }
  }

  #viewOf(bytes: Uint8Array): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.#view;
  }
}

function isWritable(value: unknown): value is number {
  return typeof value === "number" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

function invalid(value: unknown, index: number): TypeError | RangeError {
  const is = `the number at index ${index} is ${described(value)}`;
  if (typeof value !== "number") return new TypeError(`${is}: only numbers can be written as lines`);
  if (!Number.isFinite(value)) return new RangeError(`${is}: only finite numbers can be written as lines`);
  return new RangeError(`${is}: only numbers up to 2^53 - 1 in magnitude can be written as lines`);
}

function writeLine(number: number, view: DataView, offset: number): number {
  let at = offset;
  const magnitude = Math.abs(number);
  if (number < 0) view.setUint8(at++, MINUS);
  at = Number.isInteger(magnitude) ? writeInteger(magnitude, view, at) : writeFraction(magnitude, view, at);
  view.setUint8(at, LINE_FEED);
  return at + 1;
}

function writeInteger(magnitude: number, view: DataView, offset: number): number {
  const high = Math.floor(magnitude / EIGHT_DIGITS);
  if (high === 0) return writeDigits(magnitude, view, offset);
  return writeEightDigits(magnitude - high * EIGHT_DIGITS, view, writeDigits(high, view, offset));
}

/** The maximum of queued numbers. Their lines make one chunk: 36 KiB for numbers of 8 digits, and at most 64 KiB. */
const HIGH_WATER_MARK = 4096;
/** The maximum bytes of an output chunk. */
const CHUNK = 64 * 1024;

/**
 * Takes numbers, and gives the bytes of their lines: each as `String()` writes it, in ASCII, with a line feed behind it.
 *
 * Numbers may be written one by one: those that queue up until the end of the event loop's turn, or until there are
 * 4,096, become one chunk of bytes. One chunk is made ahead of the reader.
 *
 * @example A response of numbers
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { NumberToLineStream } from "@millrace/streams/text";
 *
 * const bytes = ReadableStream.from([1, -2.5, 300]).pipeThrough(new NumberToLineStream());
 * console.log(JSON.stringify(await new Response(bytes).text())); // "1\n-2.5\n300\n"
 * ```
 */
export class NumberToLineStream {
  /** The readable end: the bytes of lines. Cancelling it errors the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The writable end, for numbers. Aborting it errors the readable end with the same reason. */
  readonly writable: WritableStream<number>;

  /**
   * Creates a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a value that is not a number, and with a RangeError on a
   * number that is not finite or beyond 2^53 - 1 in magnitude.
   */
  constructor() {
    refuseOptions("NumberToLineStream", arguments[0]);
    const formatter = new NumberFormatter();
    // Lines are made here and copied, as the length of a chunk is known only afterwards.
    const lines = new Uint8Array(CHUNK);
    const { readable, writable } = batchedTransform<number, Uint8Array<ArrayBuffer>>((numbers, enqueue) => {
      for (let next = 0; next < numbers.length; next = formatter.next) {
        formatter.format(numbers, next, lines, 0);
        if (formatter.end > 0) enqueue(lines.slice(0, formatter.end));
      }
    }, { highWaterMark: HIGH_WATER_MARK });
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}
