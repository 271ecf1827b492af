import { bytes, quoted, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import { TransformStream } from "../streams/mod.ts";
import { RecordReader, utf8Length } from "./chunks.ts";
import { MAX_STRING_LENGTH } from "./complete_lines.ts";

/**
 * A text of a JSON text sequence that is not JSON, or may not be all of it.
 *
 * @example The texts that were left out
 * ```ts
 * import { type InvalidJsonText, JsonSequenceDecoderStream } from "@millrace/streams/text";
 *
 * const leftOut: InvalidJsonText[] = [];
 * const values = new JsonSequenceDecoderStream({ onInvalid: (invalid) => void leftOut.push(invalid) });
 * const body = new Response('\x1e{"id":1\x1e{"id":2}\n').body!;
 * for await (const value of body.pipeThrough(values)) console.log(JSON.stringify(value)); // {"id":2}
 * for (const { index, text } of leftOut) console.log(`${index}: ${text}`); // 0: {"id":1
 * ```
 */
export interface InvalidJsonText {
  /** Which text, counted from 0; empty ones do not count. */
  readonly index: number;
  /** All between two record separators, with the line feed. */
  readonly text: string;
  /** The error of `JSON.parse()`, whose message depends on the runtime, or one that says what else is wrong. */
  readonly error: SyntaxError;
}

/**
 * Handles a text that is not JSON, or may not be all of it: returns the value that takes its place, or `undefined` to leave
 * it out.
 *
 * @example A mark in place of what was cut off
 * ```ts
 * import { JsonSequenceDecoderStream, type OnInvalidJsonText } from "@millrace/streams/text";
 *
 * const asMark: OnInvalidJsonText<unknown> = ({ text }) => ({ lost: text });
 * const values = new JsonSequenceDecoderStream({ onInvalid: asMark });
 * ```
 */
export type OnInvalidJsonText<T> = (invalid: InvalidJsonText) => T | undefined;

/** The character that every text begins with. */
export const RECORD_SEPARATOR = "\x1e";

const BLANK = /^[ \t\n\r\ufeff]*$/;
const SPACE_AT_END = /[ \t\n\r]$/;
/** The last line of a text that is not complete. */
const GOES_ON = /[,:[{]\s*$/;
/** The limit of unsuccessful parsing, as a multiple of a text's bytes: a text may come line by line. */
const MAX_TRIED = 4;
/** More parts with less bytes each than these are joined: a string for each byte would take many times its memory. */
const MAX_PARTS = 1024;
const MIN_MEAN_SIZE = 64;
const NOT_BEGUN = "there is no record separator before it";
const CUT_OFF = "it may have been cut off: no line feed follows it";

/**
 * Makes values of the texts of a JSON text sequence. A text ends where the next one begins; one with its line feed at the
 * end of a chunk is enqueued at once, without waiting for the next one.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7464#section-2}
 */
class JsonSequenceReader<T> extends RecordReader<T> {
  readonly #onInvalid: "throw" | "skip" | OnInvalidJsonText<T>;
  readonly #maxLength: number;
  readonly #decoder = new TextDecoder();
  /** The parts of the text whose end has not come, and their bytes. */
  #parts: string[] = [];
  #length = 0;
  /** The bytes parsed without success to see whether the text is complete: each time all of them. */
  #tried = 0;
  /** Whether a separator has come whose text was not given yet. */
  #hasBegun = false;
  #texts = 0;

  constructor(onInvalid: "throw" | "skip" | OnInvalidJsonText<T>, maxLength: number) {
    super();
    this.#onInvalid = onInvalid;
    this.#maxLength = maxLength;
  }

  flush(): void {
    this.#read(this.#decoder.decode() + RECORD_SEPARATOR);
  }

  add(piece: string | Uint8Array): void {
    if (typeof piece === "string") this.#read(this.#decoder.decode() + piece);
    else this.#read(this.#decoder.decode(piece, { stream: true }));
  }

  #read(text: string): void {
    const values: T[] = [];
    try {
      let start = 0;
      for (let end = text.indexOf(RECORD_SEPARATOR); end !== -1; end = text.indexOf(RECORD_SEPARATOR, start)) {
        this.#keep(text.slice(start, end));
        this.#end(values);
        start = end + 1;
      }
      this.#keep(text.slice(start));
      if (this.#hasBegun && text.endsWith("\n") && !GOES_ON.test(text)) this.#tryToEnd(values);
    } finally {
      this.enqueue(values); // those before an error, too
    }
  }

  #keep(part: string): void {
    if (part === "") return;
    this.#parts.push(part);
    this.#length += utf8Length(part);
    const count = this.#parts.length;
    if (count > MAX_PARTS && count > this.#length / MIN_MEAN_SIZE) this.#parts = [this.#parts.join("")];
    if (this.#length <= this.#maxLength) return;
    const place = `the JSON text at index ${this.#texts}`;
    throw new RangeError(`${place} is longer than ${this.#maxLength} bytes: raise maxTextLength if it may be`);
  }

  /** Adds the value of the current text if it is complete JSON. */
  #tryToEnd(values: T[]): void {
    if (this.#tried > MAX_TRIED * this.#length) return;
    const text = this.#parts.join("");
    try {
      values.push(JSON.parse(text) as T);
    } catch {
      this.#parts = [text];
      this.#tried += this.#length;
      return;
    }
    this.#texts++;
    this.#begin(false);
  }

  /** Adds the value of a text behind which there is a separator, or the end of it all. */
  #end(values: T[]): void {
    const text = this.#parts.join("");
    const hasBegun = this.#hasBegun;
    this.#begin(true);
    if (BLANK.test(text)) return;
    const value = this.#valueOf(text, hasBegun);
    this.#texts++;
    if (value !== undefined) values.push(value);
  }

  #begin(hasBegun: boolean): void {
    this.#hasBegun = hasBegun;
    this.#parts = [];
    this.#length = this.#tried = 0;
  }

  #valueOf(text: string, hasBegun: boolean): T | undefined {
    let error: SyntaxError;
    try {
      const value = JSON.parse(text);
      // The first digits of a longer number are one, too; other texts tell where they end.
      const mayBeCutOff = (typeof value !== "object" || value === null) && typeof value !== "string";
      if (hasBegun && !(mayBeCutOff && !SPACE_AT_END.test(text))) return value as T;
      error = new SyntaxError(hasBegun ? CUT_OFF : NOT_BEGUN);
    } catch (thrown) {
      error = hasBegun ? thrown as SyntaxError : new SyntaxError(NOT_BEGUN);
    }
    const index = this.#texts;
    const onInvalid = this.#onInvalid;
    if (onInvalid === "throw") {
      const message = `the JSON text at index ${index}: ${quoted(text)} is no text of a JSON text sequence`;
      throw new SyntaxError(message, { cause: error });
    }
    return onInvalid === "skip" ? undefined : onInvalid({ index, text, error });
  }
}

/**
 * Options of {@linkcode JsonSequenceDecoderStream}: how long texts may be, and what becomes of damaged ones.
 *
 * @example Skip what was cut off
 * ```ts
 * import { JsonSequenceDecoderStream, type JsonSequenceDecoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonSequenceDecoderStreamOptions<number[]> = { maxTextLength: 2 ** 20, onInvalid: "skip" };
 * const body = new Response("\x1e[1]\n\x1e[2\x1e[3]\n").body!;
 * for await (const [number] of body.pipeThrough(new JsonSequenceDecoderStream(options))) console.log(number); // 1, 3
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

export const jsonSequenceDecoderStreamOptions: SchemaOf<
  JsonSequenceDecoderStreamOptions,
  "maxTextLength" | "onInvalid"
> = /* @__PURE__ */ schema("JsonSequenceDecoderStream", () => ({
  maxTextLength: bytes(MAX_STRING_LENGTH),
  onInvalid: wordOrFunction(["throw", "skip"], "throw"),
}));

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
   * @throws {TypeError} if there is no such option, or `onInvalid` is invalid.
   * @throws {RangeError} if `maxTextLength` is not a number of bytes.
   */
  constructor(options: JsonSequenceDecoderStreamOptions<T> = {}) {
    const { maxTextLength, onInvalid } = jsonSequenceDecoderStreamOptions(options);
    super(new JsonSequenceReader<T>(onInvalid as "throw" | "skip" | OnInvalidJsonText<T>, maxTextLength));
  }
}
