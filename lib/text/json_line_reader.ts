import { enqueueAll, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { CompleteLines, type TextChunk } from "./complete_lines.ts";
import { addInPieces } from "./in_pieces.ts";
import { invalidJsonError, type OnInvalidJsonLine } from "./invalid_json.ts";
import { LF_ENDS } from "./line_ends.ts";
import { lineLimit } from "./line_limit.ts";

/** Lines of white space as JSON has it. */
const BLANK = /^[ \t\r]*$/;
/** A blank line that is longer than this is found by its error. */
const MOST_OBVIOUS = 1;

/**
 * Makes values of lines of JSON, each by a call of `JSON.parse()`: one call for a whole batch is no faster once it is
 * made sure that no value begins in one line and ends in another.
 */
export class JsonLineReader<T> extends ReleasingTransformer implements Transformer<TextChunk, T> {
  readonly #onInvalid: OnInvalidJsonLine<T> | undefined;
  readonly #text: CompleteLines;
  #controller: TransformStreamDefaultController<T> = undefined as never; // set by start()
  /** How many lines have been read. */
  #lines = 0;

  constructor(onInvalid: OnInvalidJsonLine<T> | undefined, maxLineLength: number) {
    super();
    this.#onInvalid = onInvalid;
    this.#text = new CompleteLines({
      ends: LF_ENDS,
      ...lineLimit(maxLineLength, () => this.#lines + 1),
      take: (text) => {
        const lines = text.split("\n");
        lines.pop(); // what is behind the last end
        this.#read(lines);
      },
    });
  }

  start(controller: TransformStreamDefaultController<T>): void {
    this.#controller = controller;
  }

  transform(chunk: TextChunk): Promise<never> | undefined {
    return addInPieces(this.#text, chunk, this.#controller as TransformStreamDefaultController<never>);
  }

  flush(): void {
    this.#read([this.#text.end()]);
  }

  /** Reads lines, whose array becomes that of the values. */
  #read(lines: string[]): void {
    const values = lines as unknown[];
    let next = 0;
    let count = 0;
    try {
      while (next < lines.length) {
        const line = lines[next++];
        if (line.length <= MOST_OBVIOUS && BLANK.test(line)) continue;
        const value = this.#valueOf(line, next);
        if (value !== undefined) values[count++] = value;
      }
    } finally {
      this.#lines += next;
      values.length = count; // those before an invalid line, too
      if (count > 0) enqueueAll(this.#controller, values as T[]);
    }
  }

  /** The value of the `count`th line since the last call of `take()`; undefined if it has none. */
  #valueOf(line: string, count: number): T | undefined {
    try {
      return JSON.parse(line) as T;
    } catch (error) {
      if (BLANK.test(line)) return undefined;
      const text = line.endsWith("\r") ? line.slice(0, -1) : line;
      const invalid = { line: this.#lines + count, text, error: error as SyntaxError };
      if (this.#onInvalid === undefined) throw invalidJsonError(invalid);
      return this.#onInvalid(invalid);
    }
  }
}
