import type { ReadableStream, WritableStream } from "../streams/mod.ts";
import { codecStream, endsOf } from "./codec_stream.ts";
import type { Format } from "./format.ts";
import { encoders } from "./module.ts";
import {
  asStreamPair,
  bool,
  defineInterface,
  integer,
  schema,
  type SchemaOf,
  showInNode,
} from "../streams/internal.ts";
import { compressMembers, type CompressOptions, compressParameters } from "./options.ts";

/**
 * Options of {@linkcode CompressionStream}.
 *
 * @example Compress a file whose size is known
 * ```ts
 * import { CompressionStream, type CompressionStreamOptions } from "@millrace/streams/codecs";
 * import { openAsBlob } from "node:fs";
 *
 * const file = await openAsBlob("access.log");
 * const options: CompressionStreamOptions = { level: 6, size: file.size };
 * const small = await new Response(file.stream().pipeThrough(new CompressionStream("zstd", options))).bytes();
 * console.log(small.length < file.size); // true
 * ```
 */
export interface CompressionStreamOptions extends Omit<CompressOptions, "format"> {
  /**
   * The number of bytes that will be written, if known: zstd and brotli choose better parameters then, and zstd
   * records it. Another number of bytes is an error.
   *
   * @default unknown
   */
  size?: number;
  /**
   * Whether each chunk can be decompressed as soon as it is written: for pages that are rendered bit by bit, and events.
   * Each flush costs a few bytes; join small chunks first, with `coalesceBytes()`.
   *
   * @default false: output comes when it has piled up
   */
  flush?: boolean;
}

export const compressionStreamOptions: SchemaOf<
  CompressionStreamOptions,
  "checksum" | "flush"
> = /* @__PURE__ */ schema("CompressionStream", () => ({
  ...compressMembers(),
  size: integer(0, 2 ** 53 - 1),
  flush: bool(false),
}));

/**
 * Compresses a stream of bytes in constant memory: the standard's `CompressionStream` with more formats and options,
 * and the same bytes on every runtime.
 *
 * Backpressure holds within a chunk too: no output is produced that nobody asked for.
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
   * @throws {TypeError} if the format is unknown, or the dictionary missing or of no use to the format.
   * @throws {RangeError} if a level, window or size is out of range.
   */
  constructor(format: Format, options: CompressionStreamOptions = {}) {
    const checked = compressionStreamOptions.check(options);
    const { size, flush } = checked;
    const parameters = compressParameters({ ...checked, format }, size ?? -1, false);
    const pair = asStreamPair(this, new.target);
    let seen = 0;
    codecStream(pair, encoders, parameters, {
      flush,
      input(length: number): void {
        seen += length;
        if (size !== undefined && seen > size) throw wrongSize(`at least ${seen}`, size);
      },
      end(): void {
        if (size !== undefined && seen !== size) throw wrongSize(String(seen), size);
      },
    });
    return pair;
  }

  /** The compressed bytes. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return endsOf(this).readable;
  }

  /** The stream to write the bytes to compress to. */
  get writable(): WritableStream<ArrayBufferView | ArrayBufferLike> {
    return endsOf(this).writable;
  }
}
defineInterface(CompressionStream, "CompressionStream");
showInNode(CompressionStream, "readable", "writable");

function wrongSize(seen: string, size: number): RangeError {
  return new RangeError(`the stream has ${seen} bytes, but its size was given as ${size}`);
}
