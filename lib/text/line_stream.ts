import { TransformStream } from "../streams/mod.ts";
import { LineSplitter } from "./line_splitter.ts";

/**
 * What {@linkcode LineStream} takes for the end of a line.
 *
 * @example A text with all three kinds of ends
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { LineStream, type LineStreamOptions } from "@millrace/streams/text";
 *
 * const options: LineStreamOptions = { allowCR: true };
 * const bytes = ReadableStream.from(["old\rmixed\r\nnew\n"]).pipeThrough(new TextEncoderStream());
 * for await (const line of bytes.pipeThrough(new LineStream(options))) console.log(line); // old, mixed, new
 * ```
 */
export interface LineStreamOptions {
  /**
   * Whether a CR that no LF follows ends a line, too.
   *
   * @default false
   */
  readonly allowCR?: boolean;
}

/**
 * Takes bytes of UTF-8 text, and gives its lines, one a chunk, without their endings: LF, CRLF and, if allowed, CR.
 *
 * Bytes may be cut into chunks anywhere. A byte order mark at the start is dropped; bytes that are no UTF-8 become
 * U+FFFD. The last line needs no ending; where there is one, no empty line follows it.
 *
 * The lines are those that `TextLineStream` of deno's standard library makes of the text. A line is kept in memory
 * until it has ended, whatever its length.
 *
 * @example Lines of a file
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { LineStream } from "@millrace/streams/text";
 *
 * const bytes = ReadableStream.from([new TextEncoder().encode("one\r\ntw"), new TextEncoder().encode("o\n")]);
 * for await (const line of bytes.pipeThrough(new LineStream())) console.log(line); // one, two
 * ```
 */
export class LineStream extends TransformStream<ArrayBuffer | ArrayBufferView, string> {
  /**
   * Makes a stream of lines. It fails with a TypeError on a chunk that holds no bytes.
   *
   * @param options `allowCR`, false by default.
   */
  constructor(options: LineStreamOptions = {}) {
    super(new LineSplitter(Boolean(options.allowCR)));
  }
}
