import { quoted } from "../streams/internal.ts";

/**
 * A line that is not a number, or is one outside the range of exact integers.
 *
 * @example What is wrong with a file
 * ```ts
 * import { type InvalidLine, LineToNumberStream } from "@millrace/streams/text";
 *
 * const found: InvalidLine[] = [];
 * const numbers = new LineToNumberStream({ onInvalid: (line) => void found.push(line) });
 * for await (const number of new Response("12\n 1x2\n").body!.pipeThrough(numbers)) console.log(number); // 12
 * for (const { line, column, text } of found) console.log(`${line}:${column} ${text}`); // 2:3 1x2
 * ```
 */
export interface InvalidLine {
  /** The line's number, counted from 1; blank lines count. */
  readonly line: number;
  /**
   * The position of the error in the line, in bytes counted from 1: the first byte that cannot continue the number,
   * which may be the line's end. For a well-formed number, it is the number's first byte.
   */
  readonly column: number;
  /** The line's text without the spaces around it; the first 1,024 bytes of a longer one. */
  readonly text: string;
  /** The reason: not a number, longer than 1,024 bytes, infinite as a double, or beyond 2^53 - 1 in magnitude. */
  readonly reason: "malformed" | "too long" | "not finite" | "too large";
}

/** The maximum bytes of a line. */
export const MAX_NUMBER_LENGTH = 1024;

const COMPLAINTS: Readonly<Record<InvalidLine["reason"], string>> = {
  "malformed": "is no number",
  "too long": `is longer than ${MAX_NUMBER_LENGTH} bytes`,
  "not finite": "is not finite",
  "too large": "is beyond 2^53 - 1 in magnitude",
};

/** Returns the error of a stream without `onInvalid`. */
export function invalidLineError({ line, column, text, reason }: InvalidLine): TypeError | RangeError {
  const message = `line ${line}, column ${column}: ${quoted(text)} ${COMPLAINTS[reason]}`;
  return reason === "malformed" || reason === "too long" ? new TypeError(message) : new RangeError(message);
}

const TAB = 9;
const CR = 13;
const SPACE = 32;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const LARGE_E = 69;
const SMALL_E = 101;

/** The digits of each half: two 32-bit integers are faster than one double. */
const HALF = 9;
const MAX_EXACT = 2 ** 53;
/** The powers of ten that a double represents exactly. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Reads a number's text: digits with an optional sign, decimals and an exponent, as `Number()` accepts them. Spaces,
 * tabs and CRs around it are ignored.
 *
 * If the digits are an integer of at most 2^53, and the power of ten an exact double, one division or multiplication of
 * the two gives the correctly rounded number. Other texts, which are rare, are left to `Number()`.
 */
export class NumberParser {
  /** After {@linkcode parse}: the start of the number, behind leading spaces. */
  start = 0;
  /** After {@linkcode parse}: the end of the number, before trailing spaces. */
  end = 0;
  /** After {@linkcode parse} returned NaN: the offset of the first byte that cannot continue the number. */
  failedAt = 0;
  #high = 0;
  #low = 0;
  #digits = 0;
  #at = 0;
  readonly #decoder = new TextDecoder();

  /** After {@linkcode parse} returned NaN: whether the text is empty or blank. */
  get isBlank(): boolean {
    return this.start === this.end;
  }

  /** Returns the number in the bytes, which may be infinite, or NaN if there is no number. */
  parse(bytes: Uint8Array, from: number, to: number): number {
    this.#trim(bytes, from, to);
    let at = this.start;
    const sign = at < this.end ? bytes[at] : 0;
    if (sign === MINUS || sign === PLUS) at++;
    const magnitude = this.#parseMagnitude(bytes, at);
    return sign === MINUS ? -magnitude : magnitude;
  }

  #trim(bytes: Uint8Array, from: number, to: number): void {
    let start = from;
    let end = to;
    while (start < end && isBlank(bytes[start])) start++;
    while (end > start && isBlank(bytes[end - 1])) end--;
    this.start = start;
    this.end = end;
  }

  #parseMagnitude(bytes: Uint8Array, from: number): number {
    const { end } = this;
    this.#high = this.#low = this.#digits = 0;
    let exponent = 0;
    let at = this.#addDigits(bytes, from);
    if (at < end && bytes[at] === POINT) {
      const point = at;
      at = this.#addDigits(bytes, at + 1);
      exponent = point + 1 - at;
    }
    if (this.#digits === 0) return this.#fail(at);
    if (at < end && (bytes[at] === SMALL_E || bytes[at] === LARGE_E)) {
      const written = this.#parseExponent(bytes, at + 1);
      if (Number.isNaN(written)) return NaN;
      exponent += written;
    } else if (at < end) {
      return this.#fail(at);
    }
    return this.#rounded(bytes, from, exponent);
  }

  /** Reads and counts the digits from `from` on, and returns the offset behind them. */
  #addDigits(bytes: Uint8Array, from: number): number {
    const { end } = this;
    const before = this.#digits;
    this.#at = from;
    this.#high = this.#fold(bytes, Math.min(end, from + HALF - before), this.#high);
    this.#low = this.#fold(bytes, Math.min(end, from + 2 * HALF - before), this.#low);
    let at = this.#at;
    while (at < end && (bytes[at] - ZERO) >>> 0 <= 9) at++; // too many to be exact
    this.#digits = before + at - from;
    return at;
  }

  #fold(bytes: Uint8Array, to: number, half: number): number {
    let folded = half;
    let at = this.#at;
    for (; at < to; at++) {
      const digit = bytes[at] - ZERO;
      if (digit >>> 0 > 9) break;
      folded = (Math.imul(folded, 10) + digit) | 0;
    }
    this.#at = at;
    return folded;
  }

  #parseExponent(bytes: Uint8Array, from: number): number {
    const { end } = this;
    let at = from;
    const sign = at < end ? bytes[at] : 0;
    if (sign === MINUS || sign === PLUS) at++;
    const first = at;
    let exponent = 0;
    for (; at < end; at++) {
      const digit = bytes[at] - ZERO;
      if (digit >>> 0 > 9) break;
      exponent = exponent * 10 + digit;
    }
    if (at < end || at === first) return this.#fail(at);
    return sign === MINUS ? -exponent : exponent;
  }

  #rounded(bytes: Uint8Array, from: number, exponent: number): number {
    const digits = this.#digits;
    if (digits <= 2 * HALF && exponent >= -22 && exponent <= 22) {
      const mantissa = digits <= HALF ? this.#high : this.#high * POWERS[digits - HALF] + this.#low;
      // Below that limit, neither the product nor the sum was rounded: the mantissa has all digits.
      if (mantissa < MAX_EXACT) return exponent < 0 ? mantissa / POWERS[-exponent] : mantissa * POWERS[exponent];
    }
    return Number(this.#decoder.decode(bytes.subarray(from, this.end)));
  }

  #fail(at: number): number {
    this.failedAt = at;
    return NaN;
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === CR || byte === TAB;
}
