import { batchedTransform } from "../batch/internal.ts";
import { asStreamPair, func, schema, type SchemaOf } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { NumberFormatter, type OnInvalidNumber } from "./number_formatter.ts";

/** How many numbers may wait. Their lines are a chunk: of 36 KiB if they have 8 digits, and at most of 64 KiB. */
const HIGH_WATER_MARK = 4096;
/** The most bytes of a chunk that comes out. */
const CHUNK = 64 * 1024;

/**
 * Options of {@linkcode NumberToLineStream}: the handling of values that it cannot write.
 *
 * @example 0 in place of what is no number
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { NumberToLineStream, type NumberToLineStreamOptions } from "@millrace/streams/text";
 *
 * const options: NumberToLineStreamOptions = { onInvalid: () => 0 };
 * const lines = ReadableStream.from([4, NaN]).pipeThrough(new NumberToLineStream(options));
 * console.log(JSON.stringify(await new Response(lines).text())); // "4\n0\n"
 * ```
 */
export interface NumberToLineStreamOptions {
  /**
   * Called with each value that is no number, not finite, or beyond 2^53 - 1 in magnitude. What it returns is written in
   * its place; `undefined` leaves it out.
   *
   * @default the stream fails with an error that names the value and which one it is
   */
  readonly onInvalid?: OnInvalidNumber;
}

export const numberToLineStreamOptions: SchemaOf<NumberToLineStreamOptions> = /* @__PURE__ */ schema(
  "NumberToLineStream",
  () => ({ onInvalid: func<OnInvalidNumber>() }),
);

/**
 * Takes numbers, and gives the bytes of their lines: each as `String()` writes it, in ASCII, with a line feed behind it.
 *
 * Numbers may be written one by one: what queues up until the end of the event loop's turn, or until 4,096 wait, becomes
 * one chunk of bytes. One chunk is made ahead; the next one when that is read.
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
  /** The end that gives the lines. Cancelling it fails the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The end that takes the numbers. Aborting it fails the readable end with the same reason. */
  readonly writable: WritableStream<number>;

  /**
   * Makes a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a value that is no number, and with a RangeError on a number
   * that is not finite or beyond 2^53 - 1 in magnitude.
   *
   * @param options `onInvalid`, which is told of such values in place of that.
   * @throws {TypeError} if `onInvalid` is no function, or there is no such option.
   */
  constructor(options: NumberToLineStreamOptions = {}) {
    const formatter = new NumberFormatter(numberToLineStreamOptions(options).onInvalid);
    // Lines are made here and copied: only then is it known how long a chunk has to be.
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
