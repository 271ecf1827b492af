import { asStreamPair, schema, type SchemaOf, wordOrFunction } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { jsonEncoder, type JsonLinesEncoderStreamOptions } from "./json_lines_encoder_stream.ts";
import { RECORD_SEPARATOR } from "./json_sequence_decoder_stream.ts";

/**
 * Options of {@linkcode JsonSequenceEncoderStream}: the handling of values that JSON has no text for.
 *
 * @example Skip what cannot be written
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { JsonSequenceEncoderStream, type JsonSequenceEncoderStreamOptions } from "@millrace/streams/text";
 *
 * const options: JsonSequenceEncoderStreamOptions = { onInvalid: "skip" };
 * const texts = ReadableStream.from([{ id: 1 }, 2n]).pipeThrough(new JsonSequenceEncoderStream(options));
 * console.log((await new Response(texts).text()).slice(1, -1)); // {"id":1}
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
 * Values may be written one by one: what queues up until the end of the event loop's turn, or until 512 wait, becomes one
 * chunk of bytes, or a few if they are large. A value must not be changed before its write has been acknowledged.
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
   * @throws {TypeError} if `onInvalid` is none of these, or there is no such option.
   */
  constructor(options: JsonSequenceEncoderStreamOptions = {}) {
    const { onInvalid } = jsonSequenceEncoderStreamOptions(options);
    const { readable, writable } = jsonEncoder<T>(onInvalid, RECORD_SEPARATOR);
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}
