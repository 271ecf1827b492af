import { bytes, quoted, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import { CompleteLines, MAX_STRING_LENGTH, RecordReader } from "./complete_lines.ts";
import { LF_ENDS } from "./line_ends.ts";

/**
 * A line that is not JSON.
 *
 * @example The lines that were left out
 * ```ts
 * import { type InvalidJsonLine, JsonLineStream } from "@millrace/streams/text";
 *
 * const leftOut: InvalidJsonLine[] = [];
 * const records = new JsonLineStream({ onInvalid: (invalid) => void leftOut.push(invalid) });
 * for await (const record of new Response("{}\n{\n").body!.pipeThrough(records)) console.log(record); // {}
 * for (const { line, text } of leftOut) console.log(`${line}: ${text}`); // 2: {
 * ```
 */
export interface InvalidJsonLine {
  /** The line's number, counted from 1; blank lines count. */
  readonly line: number;
  /** The line's text, without its ending. */
  readonly text: string;
  /** The error of `JSON.parse()`, whose message depends on the runtime. */
  readonly error: SyntaxError;
}

type OnInvalid<T> = NonNullable<JsonLineStreamOptions<T>["onInvalid"]>;

/** A line of JSON's white space only. */
const BLANK = /^[ \t\r]*$/;
/** The maximum length of lines that are checked for being blank first; JSON.parse() fails for longer blank ones. */
const MAX_CHECKED_BLANK = 1;

/** A reader of values, each by `JSON.parse()`: one call for a batch is no faster, as values may span lines. */
class JsonLineReader<T> extends RecordReader<T> {
  readonly #onInvalid: OnInvalid<T>;
  readonly #text: CompleteLines;
  #lines = 0;

  constructor(onInvalid: OnInvalid<T>, maxLineLength: number) {
    super();
    this.#onInvalid = onInvalid;
    this.#text = new CompleteLines({
      ends: LF_ENDS,
      maxLength: maxLineLength,
      option: "maxLineLength",
      place: () => `line ${this.#lines + 1}`,
      take: (text) => {
        const lines = text.split("\n");
        lines.pop(); // the empty text behind the last line ending
        this.#read(lines);
      },
    });
  }

  add(piece: string | Uint8Array): void {
    this.#text.add(piece);
  }

  flush(): void {
    this.#read([this.#text.end()]);
  }

  /** Parses lines; their array becomes the array of values. */
  #read(lines: string[]): void {
    const values = lines as unknown[];
    let next = 0;
    let count = 0;
    try {
      while (next < lines.length) {
        const line = lines[next++];
        if (line.length <= MAX_CHECKED_BLANK && BLANK.test(line)) continue;
        const value = this.#valueOf(line, next);
        if (value !== undefined) values[count++] = value;
      }
    } finally {
      this.#lines += next;
      values.length = count; // also the values before an invalid line
      this.enqueue(values as T[]);
    }
  }

  /** Returns the value of the `count`th line since the last call of `take()`; undefined if the line has no value. */
  #valueOf(line: string, count: number): T | undefined {
    try {
      return JSON.parse(line) as T;
    } catch (error) {
      if (BLANK.test(line)) return undefined;
      const text = line.endsWith("\r") ? line.slice(0, -1) : line;
      const invalid = { line: this.#lines + count, text, error: error as SyntaxError };
      const onInvalid = this.#onInvalid;
      if (onInvalid === "throw") {
        throw new SyntaxError(`line ${invalid.line}: ${quoted(text)} is not JSON`, { cause: error });
      }
      return onInvalid === "skip" ? undefined : onInvalid(invalid);
    }
  }
}

/**
 * Options of {@linkcode JsonLineStream}: the maximum length of lines, and the handling of those that are not JSON.
 *
 * @example Skip what is not JSON
 * ```ts
 * import { JsonLineStream, type JsonLineStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonLineStreamOptions<number[]> = { maxLineLength: 2 ** 20, onInvalid: "skip" };
 * const body = new Response("[1]\n[2\n[3]\n").body!;
 * for await (const [number] of body.pipeThrough(new JsonLineStream(options))) console.log(number); // 1, 3
 * ```
 */
export interface JsonLineStreamOptions<T = unknown> {
  /**
   * The maximum bytes of a line in UTF-8, without its ending. A longer line errors the stream with a `RangeError` as
   * soon as that many bytes have arrived, and no further bytes of it are kept.
   *
   * @default 536870888 (2^29 - 24), the longest string of Node and Deno
   */
  readonly maxLineLength?: number;
  /**
   * The handling of lines that are not JSON. `"throw"` errors the stream with a `SyntaxError` with the line's number
   * and text. `"skip"` leaves such lines out. A function is called with each, and returns the value to use instead;
   * `undefined` skips the line.
   *
   * @default "throw"
   */
  readonly onInvalid?: "throw" | "skip" | ((invalid: InvalidJsonLine) => T | undefined);
}

export const jsonLineStreamOptions: SchemaOf<
  JsonLineStreamOptions,
  "maxLineLength" | "onInvalid"
> = /* @__PURE__ */ schema("JsonLineStream", () => ({
  maxLineLength: bytes(MAX_STRING_LENGTH),
  onInvalid: wordOrFunction(["throw", "skip"], "throw"),
}));

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
 */
export class JsonLineStream<T = unknown> extends TransformStream<string | ArrayBuffer | ArrayBufferView, T> {
  /**
   * Creates a stream of values.
   *
   * The stream, not this call, fails with a TypeError on a chunk that is neither text nor bytes, with a SyntaxError on a
   * line that is not JSON, and with a RangeError on a line that is too long.
   *
   * @throws {TypeError} if an option is unknown, or `onInvalid` is invalid.
   * @throws {RangeError} if `maxLineLength` is not a number of bytes.
   */
  constructor(options: JsonLineStreamOptions<T> = {}) {
    const { maxLineLength, onInvalid } = jsonLineStreamOptions(options);
    super(new JsonLineReader<T>(onInvalid as OnInvalid<T>, maxLineLength));
  }
}
