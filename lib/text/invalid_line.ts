import { quoted } from "../streams/internal.ts";

/**
 * Why a line is invalid: it is no number, longer than any, a number that is infinite as a double, or one beyond
 * 2^53 - 1 in magnitude.
 *
 * @example Large numbers are rounded, other invalid lines are an error
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidLineReason, LineToNumberStream } from "@millrace/streams/text";
 *
 * const rounded: InvalidLineReason = "too large";
 * const numbers = new LineToNumberStream({
 *   onInvalid({ line, text, reason }) {
 *     if (reason === rounded) return Number(text);
 *     throw new TypeError(`line ${line}: ${text} is ${reason}`);
 *   },
 * });
 * const bytes = ReadableStream.from(["7\n1e20\n"]).pipeThrough(new TextEncoderStream());
 * for await (const number of bytes.pipeThrough(numbers)) console.log(number); // 7, 100000000000000000000
 * ```
 */
export type InvalidLineReason = "malformed" | "too long" | "not finite" | "too large";

/**
 * A line that is no number, or none that can be given exactly.
 *
 * @example What is wrong with a file
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidLine, LineToNumberStream } from "@millrace/streams/text";
 *
 * const found: InvalidLine[] = [];
 * const numbers = new LineToNumberStream({ onInvalid: (line) => void found.push(line) });
 * const bytes = ReadableStream.from(["12\n 1x2\n"]).pipeThrough(new TextEncoderStream());
 * for await (const number of bytes.pipeThrough(numbers)) console.log(number); // 12
 * for (const { line, column, text } of found) console.log(`${line}:${column} ${text}`); // 2:3 1x2
 * ```
 */
export interface InvalidLine {
  /** Which line, counted from 1; blank lines count. */
  readonly line: number;
  /**
   * The position in the line, in bytes counted from 1: the byte that no number has there, which may be the line's end,
   * or the number's first byte if it is well-formed.
   */
  readonly column: number;
  /** Its text without the spaces around it; the first 1,024 bytes of a longer one. */
  readonly text: string;
  /** The reason why it is invalid. */
  readonly reason: InvalidLineReason;
}

/**
 * Handles an invalid line: returns the number that takes its place, or `undefined` to skip it.
 *
 * @example Blank out what is no number
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { LineToNumberStream, type OnInvalidLine } from "@millrace/streams/text";
 *
 * const asNaN: OnInvalidLine = () => NaN;
 * const bytes = ReadableStream.from(["1\nn/a\n3\n"]).pipeThrough(new TextEncoderStream());
 * const numbers = bytes.pipeThrough(new LineToNumberStream({ onInvalid: asNaN }));
 * for await (const number of numbers) console.log(number); // 1, NaN, 3
 * ```
 */
export type OnInvalidLine = (invalid: InvalidLine) => number | undefined;

/** The most bytes that a line may have. */
export const LONGEST = 1024;

const COMPLAINTS: Readonly<Record<InvalidLineReason, string>> = {
  "malformed": "is no number",
  "too long": `is longer than ${LONGEST} bytes`,
  "not finite": "is not finite",
  "too large": "is beyond 2^53 - 1 in magnitude",
};

/** The error of a stream that nobody told what to do with invalid lines. */
export function invalidLineError({ line, column, text, reason }: InvalidLine): TypeError | RangeError {
  const message = `line ${line}, column ${column}: ${quoted(text)} ${COMPLAINTS[reason]}`;
  return reason === "malformed" || reason === "too long" ? new TypeError(message) : new RangeError(message);
}
