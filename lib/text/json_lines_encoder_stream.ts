import { type BatchedTransform, batchedTransform } from "../batch/internal.ts";
import { asStreamPair, described, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { RECORD_SEPARATOR } from "./json_sequence_decoder_stream.ts";

/**
 * A value that JSON has no text for.
 *
 * @example Bigints as strings
 * ```ts
 * import { type InvalidJsonValue, JsonLinesEncoderStream } from "@millrace/streams/text";
 *
 * const asText = ({ value }: InvalidJsonValue) => typeof value === "bigint" ? String(value) : undefined;
 * const lines = new JsonLinesEncoderStream({ onInvalid: asText });
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
 * import { JsonLinesEncoderStream, type OnInvalidJsonValue } from "@millrace/streams/text";
 *
 * const asNull: OnInvalidJsonValue = () => null;
 * const lines = new JsonLinesEncoderStream({ onInvalid: asNull });
 * ```
 */
export type OnInvalidJsonValue = (invalid: InvalidJsonValue) => unknown;

const HIGH_WATER_MARK = 512;
/** The UTF-16 code units from which a chunk is complete. */
const FULL = 64 * 1024;

/** Writes values as lines of JSON, each with `start` before it. */
class JsonLineWriter {
  readonly #onInvalid: "throw" | "skip" | OnInvalidJsonValue;
  readonly #start: string;
  readonly #encoder = new TextEncoder();
  #taken = 0;

  constructor(onInvalid: "throw" | "skip" | OnInvalidJsonValue, start = "") {
    this.#onInvalid = onInvalid;
    this.#start = start;
  }

  /** The two ends of the encoder. */
  stream<T>(): BatchedTransform<T, Uint8Array<ArrayBuffer>> {
    return batchedTransform((values, enqueue) => this.#write(values, enqueue), { highWaterMark: HIGH_WATER_MARK });
  }

  #write(values: readonly unknown[], enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
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
    const onInvalid = this.#onInvalid;
    if (onInvalid === "throw") throw invalid(value, name, error);
    const replacement = onInvalid === "skip" ? undefined : onInvalid({ index: this.#taken, value, error });
    return replacement === undefined ? undefined : this.#lineOf(replacement, "onInvalid");
  }
}

function invalid(value: unknown, name: string, cause: unknown): TypeError {
  const options = cause === undefined ? undefined : { cause };
  return new TypeError(`${name} is ${described(value)}, which cannot be written as JSON`, options);
}

/**
 * Options of {@linkcode JsonLinesEncoderStream}: the handling of values that JSON has no text for.
 *
 * @example Skip what cannot be written
 * ```ts
 * import { JsonLinesEncoderStream, type JsonLinesEncoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonLinesEncoderStreamOptions = { onInvalid: "skip" };
 * const lines = new JsonLinesEncoderStream(options);
 * ```
 */
export interface JsonLinesEncoderStreamOptions {
  /**
   * The handling of values for which `JSON.stringify()` throws, such as bigints and cyclic objects, or returns `undefined`.
   * `"throw"` errors the stream with a `TypeError` that names the value. `"skip"` leaves such values out. A function is
   * called with each, and returns the value that is written in its place; `undefined` leaves the value out.
   *
   * @default "throw"
   */
  readonly onInvalid?: "throw" | "skip" | OnInvalidJsonValue;
}

export const jsonLinesEncoderStreamOptions: SchemaOf<JsonLinesEncoderStreamOptions, "onInvalid"> =
  /* @__PURE__ */ schema("JsonLinesEncoderStream", () => ({ onInvalid: wordOrFunction(["throw", "skip"], "throw") }));

/**
 * An encoder of JSON lines (NDJSON): takes values, and gives the bytes of their lines, each as `JSON.stringify()` writes
 * it, with a line feed behind it.
 *
 * Values may be written one by one: what queues up until the end of the event loop's turn, or until 512 wait, becomes one
 * chunk of bytes, or a few if they are large. A value must not be changed before its write has been acknowledged.
 *
 * @example A response of records
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonLinesEncoderStream } from "@millrace/streams/text";
 *
 * const lines = ReadableStream.from([{ id: 1 }, { id: 2 }]).pipeThrough(new JsonLinesEncoderStream());
 * const response = new Response(lines, { headers: { "Content-Type": "application/x-ndjson" } });
 * console.log(JSON.stringify(await response.text())); // "{\"id\":1}\n{\"id\":2}\n"
 * ```
 */
export class JsonLinesEncoderStream<T = unknown> {
  /** The end that gives the lines. Cancelling it fails the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The end that takes the values. Aborting it fails the readable end with the same reason. */
  readonly writable: WritableStream<T>;

  /**
   * Makes a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a value that cannot be written as JSON.
   *
   * @throws {TypeError} if `onInvalid` is invalid, or there is no such option.
   */
  constructor(options: JsonLinesEncoderStreamOptions = {}) {
    const { readable, writable } = new JsonLineWriter(jsonLinesEncoderStreamOptions(options).onInvalid).stream<T>();
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}

/**
 * Options of {@linkcode JsonSequenceEncoderStream}: the handling of values that JSON has no text for.
 *
 * @example Skip what cannot be written
 * ```ts
 * import { JsonSequenceEncoderStream, type JsonSequenceEncoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonSequenceEncoderStreamOptions = { onInvalid: "skip" };
 * const texts = new JsonSequenceEncoderStream(options);
 * ```
 */
export type JsonSequenceEncoderStreamOptions = JsonLinesEncoderStreamOptions;

export const jsonSequenceEncoderStreamOptions: SchemaOf<JsonSequenceEncoderStreamOptions, "onInvalid"> =
  /* @__PURE__ */ schema(
    "JsonSequenceEncoderStream",
    () => ({ onInvalid: wordOrFunction(["throw", "skip"], "throw") }),
  );

/**
 * An encoder of JSON text sequences (RFC 7464, `application/json-seq`): takes values, and gives the bytes of their texts,
 * each as `JSON.stringify()` writes it, with a record separator, U+001E, before it and a line feed behind it.
 *
 * Values may be written one by one, as to {@linkcode JsonLinesEncoderStream}.
 *
 * @example A response of records
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonSequenceEncoderStream } from "@millrace/streams/text";
 *
 * const texts = ReadableStream.from([{ id: 1 }, { id: 2 }]).pipeThrough(new JsonSequenceEncoderStream());
 * const response = new Response(texts, { headers: { "Content-Type": "application/json-seq" } });
 * console.log(JSON.stringify(await response.text())); // "\u001e{\"id\":1}\n\u001e{\"id\":2}\n"
 * ```
 */
export class JsonSequenceEncoderStream<T = unknown> {
  /** The end that gives the texts. Cancelling it fails the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The end that takes the values. Aborting it fails the readable end with the same reason. */
  readonly writable: WritableStream<T>;

  /**
   * Makes a stream of texts.
   *
   * The stream, not this call, fails with a TypeError on a value that cannot be written as JSON.
   *
   * @throws {TypeError} if `onInvalid` is invalid, or there is no such option.
   */
  constructor(options: JsonSequenceEncoderStreamOptions = {}) {
    const { onInvalid } = jsonSequenceEncoderStreamOptions(options);
    const { readable, writable } = new JsonLineWriter(onInvalid, RECORD_SEPARATOR).stream<T>();
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}
