import { func, schema, type SchemaOf } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import type { OnInvalidLine } from "./number_parser.ts";
import { NumberReader } from "./number_reader.ts";

/**
 * Options of {@linkcode LineToNumberStream}: the handling of lines that are no numbers.
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
   * Called with each line that is invalid: it is malformed, longer than 1,024 bytes, infinite as a double, or beyond
   * 2^53 - 1 in magnitude. What it returns takes the line's place; `undefined` leaves the line out.
   *
   * @default the stream fails with an error that names line and column
   */
  readonly onInvalid?: OnInvalidLine;
}

export const lineToNumberStreamOptions: SchemaOf<LineToNumberStreamOptions> = /* @__PURE__ */ schema(
  "LineToNumberStream",
  () => ({ onInvalid: func<OnInvalidLine>() }),
);

/**
 * Takes the bytes of lines that hold a number each, and gives the numbers, one a chunk.
 *
 * A number is written as in JavaScript: decimal digits with, where needed, a sign, decimals and an exponent. It is given
 * as the double that is nearest. Spaces, tabs and CRs around it are ignored, and so are blank lines and a byte order mark
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
   * Makes a stream of numbers.
   *
   * The stream, not this call, fails with a TypeError on a malformed line or a chunk that holds no bytes, and with a
   * RangeError on a number that is not finite or beyond 2^53 - 1.
   *
   * @param options `onInvalid`, which is told of invalid lines in place of that.
   * @throws {TypeError} if `onInvalid` is no function, or there is no such option.
   */
  constructor(options: LineToNumberStreamOptions = {}) {
    super(new NumberReader(lineToNumberStreamOptions(options).onInvalid));
  }
}
