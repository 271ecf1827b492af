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
    let mantissa = 0;
    let digits = 0;
    let point = -1;
    let at = from;
    for (; at < end; at++) {
      const digit = bytes[at] - ZERO;
      if (digit >>> 0 <= 9) {
        mantissa = mantissa * 10 + digit;
        digits++;
      } else if (bytes[at] === POINT && point === -1) {
        point = at;
      } else {
        break;
      }
    }
    if (digits === 0) return this.#fail(at);
    let exponent = point === -1 ? 0 : point + 1 - at;
    if (at < end) {
      if (bytes[at] !== SMALL_E && bytes[at] !== LARGE_E) return this.#fail(at);
      const written = this.#parseExponent(bytes, at + 1);
      if (Number.isNaN(written)) return NaN;
      exponent += written;
    }
    // Below MAX_EXACT, no step was rounded: the mantissa has all digits.
    if (mantissa < MAX_EXACT && exponent >= -22 && exponent <= 22) {
      return exponent < 0 ? mantissa / POWERS[-exponent] : mantissa * POWERS[exponent];
    }
    return Number(this.#decoder.decode(bytes.subarray(from, end)));
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

  #fail(at: number): number {
    this.failedAt = at;
    return NaN;
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === CR || byte === TAB;
}
