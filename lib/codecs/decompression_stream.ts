import { asStreamPair, defineInterface, ReadableStream, showInNode } from "../streams/internal.ts";
import { WritableStream } from "../streams/mod.ts";
import { decode, endsOf } from "./codec_stream.ts";
import type { Format } from "./format.ts";
import type { DecompressionStreamOptions } from "./options.ts";
import { decoders } from "./whole.ts";

/**
 * Decompresses a stream of bytes in constant memory: the standard's `DecompressionStream` with more formats and a
 * limit on the output.
 *
 * Backpressure holds within a chunk too: a small chunk that decompresses to gigabytes produces only what is read. The
 * streams error with a `TypeError` if the data is corrupt, truncated, made with another dictionary or followed by other
 * bytes, once all output before the fault is read. They error with a `RangeError` if the output is larger than
 * `maxSize`, or the data's window larger than `maxWindow`. Several gzip members or zstd frames in a row are read as
 * one.
 *
 * @see {@link https://compression.spec.whatwg.org/#decompression-stream}
 * @example Read a compressed upload, but no more than 1 MB of it
 * ```ts
 * import { compress, DecompressionStream } from "@millrace/streams/codecs";
 *
 * const upload = new Blob([await compress(new Uint8Array(1000), { format: "zstd" })]);
 * const bytes = upload.stream().pipeThrough(new DecompressionStream("zstd", { maxSize: 1_000_000 }));
 * console.log((await new Response(bytes).bytes()).length); // 1000
 * ```
 */
export class DecompressionStream {
  /**
   * Creates a stream that decompresses from `format`.
   *
   * @param format The format to read.
   * @throws {TypeError} if the format is unknown, its dictionary is missing, or the format takes none.
   * @throws {RangeError} if `maxSize` or `maxWindow` is out of range.
   */
  constructor(format: Format, options: DecompressionStreamOptions = {}) {
    const pair = asStreamPair(this, new.target);
    decode(pair, decoders, format, options, { ReadableStream, WritableStream });
    return pair;
  }

  /** The decompressed bytes. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return endsOf(this).readable as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** The stream to write the compressed bytes to. */
  get writable(): WritableStream<ArrayBufferView | ArrayBufferLike> {
    return endsOf(this).writable as WritableStream<ArrayBufferView | ArrayBufferLike>;
  }
}
defineInterface(DecompressionStream, "DecompressionStream");
showInNode(DecompressionStream, "readable", "writable");
