import { asStreamPair, defineInterface, ReadableStream, showInNode } from "../streams/internal.ts";
import { WritableStream } from "../streams/mod.ts";
import { encode, endsOf } from "./codec_stream.ts";
import type { Format } from "./format.ts";
import type { CompressionStreamOptions } from "./options.ts";
import { encoders } from "./whole.ts";

/**
 * Compresses a stream of bytes in constant memory: the standard's `CompressionStream` with more formats and options,
 * and the same bytes on every runtime.
 *
 * Backpressure holds within a chunk too: output is produced only on demand.
 *
 * @see {@link https://compression.spec.whatwg.org/#compression-stream}
 * @example Compress a body on its way
 * ```ts
 * import { CompressionStream } from "@millrace/streams/codecs";
 *
 * const body = new Blob(["water ".repeat(1000)]).stream();
 * const compressed = body.pipeThrough(new CompressionStream("zstd", { level: 3 }));
 * console.log((await new Response(compressed).bytes()).length); // 23
 * ```
 */
export class CompressionStream {
  /**
   * Creates a stream that compresses to `format`.
   *
   * @param format The format to write.
   * @throws {TypeError} if the format is unknown, its dictionary is missing, or the format takes none.
   * @throws {RangeError} if a level, window or size is out of range.
   */
  constructor(format: Format, options: CompressionStreamOptions = {}) {
    const pair = asStreamPair(this, new.target);
    encode(pair, encoders, format, options, { ReadableStream, WritableStream });
    return pair;
  }

  /** The compressed bytes. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return endsOf(this).readable as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** The stream to write the bytes to compress to. */
  get writable(): WritableStream<ArrayBufferView | ArrayBufferLike> {
    return endsOf(this).writable as WritableStream<ArrayBufferView | ArrayBufferLike>;
  }
}
defineInterface(CompressionStream, "CompressionStream");
showInNode(CompressionStream, "readable", "writable");
