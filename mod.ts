/**
 * Everything that runs on all runtimes and in browsers: streams, batched writers, lines and numbers, and codecs.
 *
 * Code that uses the file system, or streams of Node, has its own subpath: `./files`, `./node`, `./precompress`.
 *
 * @example
 * ```ts
 * import { compress } from "@millrace/streams";
 *
 * const page = new TextEncoder().encode("<!doctype html><title>Mill</title>");
 * const small = await compress(page, { format: "brotli" });
 * ```
 *
 * @module
 */
export {
  type BatchedUnderlyingSink,
  BatchedWritableStream,
  BatchedWriter,
  type Branches,
  broadcast,
  type BroadcastOptions,
  coalesceBytes,
  type CoalesceBytesOptions,
  type FailedChunks,
  readBatches,
  type ReadBatchesOptions,
  SlowBranchError,
} from "./lib/batch/mod.ts";
export {
  compress,
  CompressionStream,
  type CompressionStreamOptions,
  type CompressOptions,
  compressSync,
  decompress,
  DecompressionStream,
  type DecompressionStreamOptions,
  type DecompressOptions,
  decompressSync,
  type Format,
  formats,
  levels,
  provide,
  ready,
} from "./lib/codecs/mod.ts";
export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  fromNative,
  type PipeCounts,
  pipeThrough,
  pipeTo,
  type QueuingStrategyInit,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  type ReadableStreamBYOBReaderReadOptions,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  type StreamPipeOptions,
  toNative,
  type Transformer,
  TransformStream,
  TransformStreamDefaultController,
  type UnderlyingByteSource,
  type UnderlyingDefaultSource,
  type UnderlyingSink,
  type UnderlyingSource,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "./lib/streams/mod.ts";
export {
  CsvDecoderStream,
  type CsvDecoderStreamOptions,
  CsvEncoderStream,
  type CsvEncoderStreamOptions,
  type CsvMismatch,
  type InvalidJsonLine,
  type InvalidLine,
  JsonLinesEncoderStream,
  JsonLineStream,
  type JsonLineStreamOptions,
  LineStream,
  type LineStreamOptions,
  LineToNumberStream,
  type LineToNumberStreamOptions,
  NumberToLineStream,
} from "./lib/text/mod.ts";
