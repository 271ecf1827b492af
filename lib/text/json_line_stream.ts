import { requireKnown } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import type { OnInvalidJsonLine } from "./invalid_json.ts";
import { JsonLineReader } from "./json_line_reader.ts";
import { checkedMaxLineLength } from "./line_limit.ts";
import { checkedOnInvalid } from "./on_invalid.ts";

const known = { maxLineLength: true, onInvalid: true };

/**
 * Options of {@linkcode JsonLineStream}: how long lines may be, and what becomes of those that are not JSON.
 *
 * @example Skip what is not JSON
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonLineStream, type JsonLineStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonLineStreamOptions<number[]> = { maxLineLength: 2 ** 20, onInvalid: "skip" };
 * const text = ReadableStream.from(["[1]\n[2\n[3]\n"]);
 * for await (const [number] of text.pipeThrough(new JsonLineStream(options))) console.log(number); // 1, 3
 * ```
 */
export interface JsonLineStreamOptions<T = unknown> {
  /**
   * The most bytes that a line may have in UTF-8, its ending not counted. A longer one errors the stream with a
   * `RangeError` as soon as that many bytes have come, and no more of it is kept.
   *
   * @default 536870888 (2^29 - 24): Node and Deno have no longer strings
   */
  readonly maxLineLength?: number;
  /**
   * The handling of lines that are not JSON. `"throw"` errors the stream with a `SyntaxError` that names the line and has
   * its text. `"skip"` leaves such lines out. A function is called with each, and returns the value that takes its place;
   * `undefined` leaves the line out.
   *
   * @default "throw"
   */
  readonly onInvalid?: "throw" | "skip" | OnInvalidJsonLine<T>;
}

/**
 * A decoder of JSON lines (NDJSON): takes text, as strings or bytes of UTF-8, and gives the value of each line, one a
 * chunk.
 *
 * Text may be cut into chunks anywhere. Lines end with LF or CRLF; the last one needs no ending. Blank lines and a byte
 * order mark at the start are skipped. Values are those of `JSON.parse()`. Their type `T` is not checked.
 *
 * @example Records of a body
 * ```ts
 * import { JsonLineStream } from "@millrace/streams/text";
 *
 * const body = new Response('{"id":1}\n{"id":2}\n').body!;
 * for await (const { id } of body.pipeThrough(new JsonLineStream<{ id: number }>())) console.log(id); // 1, 2
 * ```
 *
 * @example Which line is not JSON
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonLineStream } from "@millrace/streams/text";
 *
 * const text = ReadableStream.from(['{"id":1}\n{"id":\n']);
 * try {
 *   for await (const record of text.pipeThrough(new JsonLineStream())) console.log(record);
 * } catch (error) {
 *   console.log((error as Error).message); // line 2: "{\"id\":" is not JSON
 * }
 * ```
 */
export class JsonLineStream<T = unknown> extends TransformStream<string | ArrayBuffer | ArrayBufferView, T> {
  /**
   * Makes a stream of values.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes, with a SyntaxError on a
   * line that is not JSON, and with a RangeError on a line that is too long.
   *
   * @param options.maxLineLength The most bytes that a line may have, its ending not counted. Default: 536,870,888.
   * @param options.onInvalid The handling of lines that are not JSON: "throw", "skip" or a function. Default: "throw".
   * @throws {TypeError} if there is no such option, or `onInvalid` is none of these.
   * @throws {RangeError} if `maxLineLength` is not a number of bytes.
   */
  constructor(options: JsonLineStreamOptions<T> = {}) {
    requireKnown(options, known, "JsonLineStream");
    super(new JsonLineReader<T>(checkedOnInvalid(options.onInvalid), checkedMaxLineLength(options.maxLineLength)));
  }
}
