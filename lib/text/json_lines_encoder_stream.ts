import { batchedTransform } from "../batch/internal.ts";
import { asStreamPair, described, refuseOptions } from "../streams/internal.ts";
import type { ReadableStream, WritableStream } from "../streams/mod.ts";

const HIGH_WATER_MARK = 512;
/** The length in UTF-16 code units from which a chunk is complete. */
const FULL = 64 * 1024;

function lineOf(value: unknown, index: number): string {
  let options: ErrorOptions | undefined;
  try {
    const line = JSON.stringify(value);
    if (line !== undefined) return `${line}\n`;
  } catch (cause) {
    options = { cause };
  }
  throw new TypeError(`the value at index ${index} is ${described(value)}, which cannot be written as JSON`, options);
}

/**
 * An encoder of JSON lines (NDJSON): takes values, and gives the bytes of their lines, each as `JSON.stringify()` writes
 * it, with a line feed behind it.
 *
 * Values may be written one by one: those that queue up until the end of the event loop's turn, or until there are 512,
 * become one chunk of bytes, or a few if they are large. A value must not be changed before its write has been
 * acknowledged.
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
  /** The readable end: the bytes of lines. Cancelling it errors the writable end with the same reason. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The writable end, for values. Aborting it errors the readable end with the same reason. */
  readonly writable: WritableStream<T>;

  /**
   * Creates a stream of lines.
   *
   * The stream, not this call, fails with a TypeError on a value for which `JSON.stringify()` throws, such as a bigint or a
   * cyclic object, or returns `undefined`.
   */
  constructor() {
    refuseOptions("JsonLinesEncoderStream", arguments[0]);
    const encoder = new TextEncoder();
    let taken = 0;
    const { readable, writable } = batchedTransform<T, Uint8Array<ArrayBuffer>>((values, enqueue) => {
      let text = "";
      for (const value of values) {
        text += lineOf(value, taken++);
        if (text.length < FULL) continue;
        enqueue(encoder.encode(text));
        text = "";
      }
      if (text !== "") enqueue(encoder.encode(text));
    }, { highWaterMark: HIGH_WATER_MARK });
    this.readable = readable;
    this.writable = writable;
    return asStreamPair(this, new.target);
  }
}
