import { described } from "../streams/internal.ts";
import { prepareDigits, writeDigits, writeEightDigits, writeInt32Line } from "./digits.ts";
import { writeFraction } from "./fraction.ts";

/** Most bytes that a number's line takes, its line feed included. */
export const LONGEST_LINE = 26; // -0.0000012345678901234567

const LINE_FEED = 10;
const MINUS = 45;
const EIGHT_DIGITS = 100_000_000;

/**
 * A value that cannot be written as a number's line.
 *
 * @example Which values were left out
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidNumber, NumberToLineStream } from "@millrace/streams/text";
 *
 * const leftOut: InvalidNumber[] = [];
 * const lines = new NumberToLineStream({ onInvalid: (invalid) => void leftOut.push(invalid) });
 * const text = await new Response(ReadableStream.from([0.5, NaN]).pipeThrough(lines)).text();
 * console.log(text.trim()); // 0.5
 * for (const { index, value } of leftOut) console.log(`${index}: ${value}`); // 1: NaN
 * ```
 */
export interface InvalidNumber {
  /** Which one of all that were written, counted from 0. */
  readonly index: number;
  /** The value: not a number, not finite, or beyond 2^53 - 1 in magnitude. */
  readonly value: unknown;
}

/**
 * Handles an invalid value: returns the number that takes its place, or `undefined` to leave it out.
 *
 * @example Infinity as the largest number there is a line for
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { NumberToLineStream, type OnInvalidNumber } from "@millrace/streams/text";
 *
 * const clamp: OnInvalidNumber = ({ value }) => value === Infinity ? Number.MAX_SAFE_INTEGER : undefined;
 * const lines = ReadableStream.from([Infinity, NaN]).pipeThrough(new NumberToLineStream({ onInvalid: clamp }));
 * console.log((await new Response(lines).text()).trim()); // 9007199254740991
 * ```
 */
export type OnInvalidNumber = (invalid: InvalidNumber) => number | undefined;

/**
 * Writes numbers as lines of ASCII digits into bytes, a whole batch at a call and without a string for each.
 *
 * Each line ends with its line feed, and nothing else is one: where the lines of a batch end can be asked of the bytes.
 */
export class NumberFormatter {
  /** After a call: the index of the first number of the batch that was not written. */
  next = 0;
  /** After a call: where the lines end in the bytes. The three bytes behind it may have changed, too. */
  end = 0;
  readonly #onInvalid: OnInvalidNumber | undefined;
  /** How many numbers were taken by all calls. */
  #taken = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array(0);

  /** @throws {TypeError} if `onInvalid` is given and no function. */
  constructor(onInvalid: OnInvalidNumber | undefined = undefined) {
    if (onInvalid !== undefined && typeof onInvalid !== "function") {
      throw new TypeError(`onInvalid must be a function, not ${described(onInvalid)}`);
    }
    this.#onInvalid = onInvalid;
    prepareDigits();
  }

  /**
   * Writes `numbers` from the one at `from` on into `bytes` from `offset` on, until all are written or fewer than
   * {@linkcode LONGEST_LINE} bytes are left; `next` and `end` tell how far it came, also when it throws.
   *
   * @throws {TypeError} if one is no number.
   * @throws {RangeError} if one is not finite or beyond 2^53 - 1 in magnitude.
   * @throws what `onInvalid` throws.
   */
  format(numbers: readonly unknown[], from: number, bytes: Uint8Array, offset: number): void {
    const view = this.#viewOf(bytes);
    const last = bytes.length - LONGEST_LINE;
    let index = from;
    let at = offset;
    try {
      for (; index < numbers.length && at <= last; index++) {
        const number = numbers[index];
        if (typeof number === "number" && (number | 0) === number) at = writeInt32Line(number, view, at);
        else at = this.#writeOther(number, view, at, index - from);
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

  #writeOther(value: unknown, view: DataView, offset: number, indexInCall: number): number {
    if (isWritable(value)) return writeLine(value, view, offset);
    const number = this.#inPlaceOf(value, this.#taken + indexInCall);
    return number === undefined ? offset : writeLine(number, view, offset);
  }

  #inPlaceOf(value: unknown, index: number): number | undefined {
    if (this.#onInvalid === undefined) throw invalid(value, `the number at index ${index}`);
    const number = this.#onInvalid({ index, value });
    if (number === undefined || isWritable(number)) return number;
    throw invalid(number, `what onInvalid gave for the number at index ${index}`);
  }
}

function isWritable(value: unknown): value is number {
  return typeof value === "number" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

function invalid(value: unknown, name: string): TypeError | RangeError {
  const is = `${name} is ${described(value)}`;
  if (typeof value !== "number") return new TypeError(`${is}: only numbers can be written as lines`);
  if (!Number.isFinite(value)) return new RangeError(`${is}: only finite numbers can be written as lines`);
  return new RangeError(`${is}: only numbers up to 2^53 - 1 in magnitude can be written as lines`);
}

/** Writes the line of any number that is writable. */
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
