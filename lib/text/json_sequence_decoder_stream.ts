import { described, requireKnown } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import type { OnInvalidJsonText } from "./invalid_json_text.ts";
import { JsonSequenceReader } from "./json_sequence_reader.ts";
import { LONGEST } from "./line_limit.ts";
import { checkedOnInvalid } from "./on_invalid.ts";

const known = { maxTextLength: true, onInvalid: true };

/**
 * Options of {@linkcode JsonSequenceDecoderStream}: how long texts may be, and what becomes of damaged ones.
 *
 * @example Skip what was cut off
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonSequenceDecoderStream, type JsonSequenceDecoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonSequenceDecoderStreamOptions<number[]> = { maxTextLength: 2 ** 20, onInvalid: "skip" };
 * const text = ReadableStream.from(["\x1e[1]\n\x1e[2\x1e[3]\n"]);
 * for await (const [number] of text.pipeThrough(new JsonSequenceDecoderStream(options))) console.log(number); // 1, 3
 * ```
 */
export interface JsonSequenceDecoderStreamOptions<T = unknown> {
  /**
   * The most bytes that a text may have in UTF-8, with its line feed. A longer one errors the stream with a `RangeError`
   * as soon as that many bytes have come.
   *
   * @default 536870888 (2^29 - 24): Node and Deno have no longer strings
   */
  readonly maxTextLength?: number;
  /**
   * The handling of texts that are not JSON; of numbers, `true`, `false` and `null` that no line feed follows, as they may
   * have been cut off; and of text without a record separator before it. `"throw"` errors the stream with a `SyntaxError`
   * that has the text and its index. `"skip"` leaves such texts out, as RFC 7464 has it. A function is called with each,
   * and returns the value that takes its place; `undefined` leaves the text out.
   *
   * @default "throw"
   */
  readonly onInvalid?: "throw" | "skip" | OnInvalidJsonText<T>;
}

/**
 * A decoder of JSON text sequences (RFC 7464, `application/json-seq`): takes text, as strings or bytes of UTF-8, and gives
 * the value of each JSON text, one a chunk.
 *
 * Every text begins with a record separator, U+001E, and ends with a line feed; it may have line feeds in it. So texts
 * behind one that was cut off, such as by a crash, are found again. A text is given when its line feed ends a chunk,
 * or else when the next text begins. Values are those of `JSON.parse()`. Their type `T` is not checked.
 *
 * @example Records of a body
 * ```ts
 * import { JsonSequenceDecoderStream } from "@millrace/streams/text";
 *
 * const body = new Response('\x1e{"id":1}\n\x1e{\n  "id": 2\n}\n').body!;
 * for await (const { id } of body.pipeThrough(new JsonSequenceDecoderStream<{ id: number }>())) console.log(id); // 1, 2
 * ```
 */
export class JsonSequenceDecoderStream<T = unknown> extends TransformStream<string | ArrayBuffer | ArrayBufferView, T> {
  /**
   * Makes a stream of values.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes, with a SyntaxError on a
   * text that is not JSON or may have been cut off, and with a RangeError on a text that is too long.
   *
   * @param options.maxTextLength The most bytes that a text may have. Default: 536,870,888.
   * @param options.onInvalid The handling of damaged texts: "throw", "skip" or a function. Default: "throw".
   * @throws {TypeError} if there is no such option, or `onInvalid` is none of these.
   * @throws {RangeError} if `maxTextLength` is not a number of bytes.
   */
  constructor(options: JsonSequenceDecoderStreamOptions<T> = {}) {
    requireKnown(options, known, "JsonSequenceDecoderStream");
    super(new JsonSequenceReader<T>(checkedOnInvalid(options.onInvalid), checkedMaxTextLength(options.maxTextLength)));
  }
}

function checkedMaxTextLength(length: number = LONGEST): number {
  if (typeof length === "number" && length >= 0) return Math.floor(length);
  throw new RangeError(`maxTextLength ${described(length)} is not a number of bytes: use 0 or more`);
}
