import { bool, bytes, schema, type SchemaOf } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import { CompleteLines, MAX_STRING_LENGTH, RecordReader } from "./complete_lines.ts";
import { LF_ENDS, LF_OR_CR_ENDS } from "./line_ends.ts";

class LineSplitter extends RecordReader<string> {
  readonly #allowsCR: boolean;
  readonly #text: CompleteLines;
  #lines = 0;

  constructor(allowsCR: boolean, maxLineLength: number) {
    super(Infinity); // no pieces: lines take less memory than records
    const ends = allowsCR ? LF_OR_CR_ENDS : LF_ENDS;
    this.#allowsCR = allowsCR;
    this.#text = new CompleteLines({
      ends,
      maxLength: maxLineLength,
      option: "maxLineLength",
      place: () => `line ${this.#lines + 1}`,
      take: (text) => {
        const lines = ends.cut(text);
        this.#lines += lines.length;
        this.enqueue(lines);
      },
    });
  }

  add(piece: string | Uint8Array): void {
    this.#text.add(piece);
  }

  flush(): void {
    const line = this.#text.end();
    if (this.#allowsCR && line.endsWith("\r")) this.enqueue([line.slice(0, -1)]);
    else if (line !== "") this.enqueue([line]);
  }
}

/**
 * Options of {@linkcode LineStream}: the line endings, and the maximum length of lines.
 *
 * @example A text with all three kinds of ends
 * ```ts
 * import { LineStream, type LineStreamOptions } from "@millrace/streams/text";
 *
 * const options: LineStreamOptions = { allowCR: true };
 * const body = new Response("old\rmixed\r\nnew\n").body!;
 * for await (const line of body.pipeThrough(new LineStream(options))) console.log(line); // old, mixed, new
 * ```
 */
export interface LineStreamOptions {
  /**
   * Whether a CR that no LF follows ends a line, too.
   *
   * @default false
   */
  readonly allowCR?: boolean;
  /**
   * The maximum bytes of a line in UTF-8, without its ending. A longer line errors the stream with a `RangeError` as
   * soon as that many bytes have arrived, and no further bytes of it are kept. This guards against senders that never
   * end a line.
   *
   * @default 536870888 (2^29 - 24), the longest string of Node and Deno
   */
  readonly maxLineLength?: number;
}

export const lineStreamOptions: SchemaOf<LineStreamOptions, "allowCR" | "maxLineLength"> = /* @__PURE__ */ schema(
  "LineStream",
  () => ({ allowCR: bool(false), maxLineLength: bytes(MAX_STRING_LENGTH) }),
);

/**
 * Takes text, as strings or bytes of UTF-8, and gives its lines, one a chunk, without their endings: LF, CRLF and, if
 * allowed, CR.
 *
 * Text may be cut into chunks anywhere. A byte order mark at the start is dropped; invalid UTF-8 and lone surrogates
 * become U+FFFD. The last line needs no ending; if it has one, no empty line follows.
 *
 * The lines are those that `TextLineStream` of Deno's standard library makes of the text. A line is kept in memory
 * until its end; `maxLineLength` limits that memory.
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
export class LineStream extends TransformStream<string | ArrayBuffer | ArrayBufferView, string> {
  /**
   * Creates a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes, and with a RangeError on
   * a line that is too long.
   *
   * @throws {TypeError} if an option is unknown.
   * @throws {RangeError} if `maxLineLength` is not a number of bytes.
   */
  constructor(options: LineStreamOptions = {}) {
    const { allowCR, maxLineLength } = lineStreamOptions(options);
    super(new LineSplitter(allowCR, maxLineLength));
  }
}
