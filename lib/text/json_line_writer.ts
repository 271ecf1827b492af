import { described } from "../streams/internal.ts";
import { checkedOnInvalid } from "./on_invalid.ts";

/**
 * A value that JSON has no text for.
 *
 * @example Bigints as strings
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { type InvalidJsonValue, JsonLinesEncoderStream } from "@millrace/streams/text";
 *
 * const asText = ({ value }: InvalidJsonValue) => typeof value === "bigint" ? String(value) : undefined;
 * const lines = ReadableStream.from([1n]).pipeThrough(new JsonLinesEncoderStream({ onInvalid: asText }));
 * console.log((await new Response(lines).text()).trim()); // "1"
 * ```
 */
export interface InvalidJsonValue {
  /** Which one of all that were written, counted from 0. */
  readonly index: number;
  /** The value. */
  readonly value: unknown;
  /** The error of `JSON.stringify()`; `undefined` if there was none, but no text either. */
  readonly error: unknown;
}

/**
 * Handles a value that JSON has no text for: returns the value that is written in its place, or `undefined` to leave it
 * out.
 *
 * @example null for whatever cannot be written
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonLinesEncoderStream, type OnInvalidJsonValue } from "@millrace/streams/text";
 *
 * const asNull: OnInvalidJsonValue = () => null;
 * const lines = ReadableStream.from([() => 1]).pipeThrough(new JsonLinesEncoderStream({ onInvalid: asNull }));
 * console.log((await new Response(lines).text()).trim()); // null
 * ```
 */
export type OnInvalidJsonValue = (invalid: InvalidJsonValue) => unknown;

/** As many UTF-16 code units as make a chunk. */
const FULL = 64 * 1024;

/** Writes values as lines of JSON, each with `start` before it. */
export class JsonLineWriter {
  readonly #onInvalid: OnInvalidJsonValue | undefined;
  readonly #start: string;
  readonly #encoder = new TextEncoder();
  /** How many values were taken. */
  #taken = 0;

  constructor(onInvalid: "throw" | "skip" | OnInvalidJsonValue | undefined, start = "") {
    this.#onInvalid = checkedOnInvalid(onInvalid);
    this.#start = start;
  }

  /** Enqueues the lines of values. */
  write(values: readonly unknown[], enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    let text = "";
    for (const value of values) {
      const line = this.#lineOf(value);
      this.#taken++;
      if (line !== undefined) text += `${this.#start}${line}\n`;
      if (text.length < FULL) continue;
      enqueue(this.#encoder.encode(text));
      text = "";
    }
    if (text !== "") enqueue(this.#encoder.encode(text));
  }

  #lineOf(value: unknown, from: "input" | "onInvalid" = "input"): string | undefined {
    let error: unknown;
    try {
      const line = JSON.stringify(value);
      if (line !== undefined) return line;
    } catch (thrown) {
      error = thrown;
    }
    const name = `the value at index ${this.#taken}`;
    if (from === "onInvalid") throw invalid(value, `what onInvalid returned for ${name}`, error);
    if (this.#onInvalid === undefined) throw invalid(value, name, error);
    const replacement = this.#onInvalid({ index: this.#taken, value, error });
    return replacement === undefined ? undefined : this.#lineOf(replacement, "onInvalid");
  }
}

function invalid(value: unknown, name: string, cause: unknown): TypeError {
  const message = `${name} is ${described(value)}, which cannot be written as JSON`;
  return cause === undefined ? new TypeError(message) : new TypeError(message, { cause });
}
