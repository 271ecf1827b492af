/**
 * The WHATWG Streams Standard, the same on every runtime, and pipes between its streams and the runtime's own.
 *
 * @example
 * ```ts
 * import { ReadableStream, TransformStream } from "@millrace/streams/streams";
 *
 * const upper = new TransformStream<string, string>({
 *   transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
 * });
 * const stream = ReadableStream.from(["mill", "race"]).pipeThrough(upper).pipeThrough(new TextEncoderStream());
 * console.log(await new Response(stream).text()); // MILLRACE
 * ```
 *
 * @module
 */
export { fromNative, toNative } from "./native/bridge.ts";
export { pipeThrough, pipeTo } from "./pipe/pipe_to.ts";
export type { PipeCounts, StreamPipeOptions } from "./pipe/pipe_options.ts";
export { ReadableByteStreamController } from "./readable/byte_controller.ts";
export { ReadableStreamBYOBReader, type ReadableStreamBYOBReaderReadOptions } from "./readable/byob_reader.ts";
export { ReadableStreamBYOBRequest } from "./readable/byob_request.ts";
export { ReadableStreamDefaultController } from "./readable/default_controller.ts";
export { ReadableStreamDefaultReader } from "./readable/default_reader.ts";
export type { UnderlyingByteSource, UnderlyingDefaultSource, UnderlyingSource } from "./readable/underlying_source.ts";
export { ReadableStream } from "#streams/readable_stream";
export { ByteLengthQueuingStrategy, CountQueuingStrategy, type QueuingStrategyInit } from "./queuing/strategies.ts";
export { TransformStreamDefaultController } from "./transform/default_controller.ts";
export type { Transformer } from "./transform/transformer.ts";
export { TransformStream } from "./transform/transform_stream.ts";
export type { UnderlyingSink } from "./writable/underlying_sink.ts";
export { WritableStreamDefaultController } from "./writable/underlying_sink.ts";
export { WritableStreamDefaultWriter } from "./writable/default_writer.ts";
export { WritableStream } from "./writable/writable_stream.ts";
