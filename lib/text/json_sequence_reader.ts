import { enqueueAll, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import type { TextChunk } from "./complete_lines.ts";
import { addInPieces } from "./in_pieces.ts";
import { invalidJsonTextError, type OnInvalidJsonText } from "./invalid_json_text.ts";
import { utf8Length } from "./utf8_length.ts";

/** The character that every text begins with. */
export const RECORD_SEPARATOR = "\x1e";

const BLANK = /^[ \t\n\r\ufeff]*$/;
const SPACE_AT_END = /[ \t\n\r]$/;
/** The last line of a text that is not complete. */
const GOES_ON = /[,:[{]\s*$/;
/** How often as many bytes as a text has are read in vain: a text may come line by line. */
const MOST_TRIED = 4;
/** More parts with less bytes each than these are joined: a string for each byte would take many times its memory. */
const MANY = 1024;
const FEWEST_BYTES = 64;
const NOT_BEGUN = "there is no record separator before it";
const CUT_OFF = "it may have been cut off: no line feed follows it";

/**
 * Makes values of the texts of a JSON text sequence. A text ends where the next one begins; one with its line feed at the
 * end of a chunk is given at once, so that nobody waits for the next one.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7464#section-2}
 */
export class JsonSequenceReader<T> extends ReleasingTransformer implements Transformer<TextChunk, T> {
  readonly #onInvalid: OnInvalidJsonText<T> | undefined;
  readonly #maxLength: number;
  readonly #decoder = new TextDecoder();
  #controller: TransformStreamDefaultController<T> = undefined as never; // set by start()
  /** The parts of the text whose end has not come, and their bytes. */
  #parts: string[] = [];
  #length = 0;
  /** How many bytes of it were read in vain to see whether it is complete: each time all of them. */
  #tried = 0;
  /** Whether a separator has come whose text was not given yet. */
  #hasBegun = false;
  /** How many texts there have been. */
  #texts = 0;

  constructor(onInvalid: OnInvalidJsonText<T> | undefined, maxLength: number) {
    super();
    this.#onInvalid = onInvalid;
    this.#maxLength = maxLength;
  }

  start(controller: TransformStreamDefaultController<T>): void {
    this.#controller = controller;
  }

  transform(chunk: TextChunk): Promise<never> | undefined {
    return addInPieces(this, chunk, this.#controller as TransformStreamDefaultController<never>);
  }

  flush(): void {
    this.#read(this.#decoder.decode() + RECORD_SEPARATOR);
  }

  /** Reads a piece of a chunk. */
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
      if (values.length > 0) enqueueAll(this.#controller, values); // those before an error, too
    }
  }

  #keep(part: string): void {
    if (part === "") return;
    this.#parts.push(part);
    this.#length += utf8Length(part);
    const count = this.#parts.length;
    if (count > MANY && count > this.#length / FEWEST_BYTES) this.#parts = [this.#parts.join("")];
    if (this.#length <= this.#maxLength) return;
    const place = `the JSON text at index ${this.#texts}`;
    throw new RangeError(`${place} is longer than ${this.#maxLength} bytes: raise maxTextLength if it may be`);
  }

  /** Adds the value of the text that is complete if it is JSON. */
  #tryToEnd(values: T[]): void {
    if (this.#tried > MOST_TRIED * this.#length) return;
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
    const invalid = { index: this.#texts, text, error };
    if (this.#onInvalid === undefined) throw invalidJsonTextError(invalid);
    return this.#onInvalid(invalid);
  }
}
