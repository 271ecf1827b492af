import type { Writable } from "node:stream";
import { BatchedWritableStream } from "../batch/mod.ts";
import { lengthOf } from "./joined_chunks.ts";
import { requireMethods } from "./methods.ts";
import { WritableSink } from "./writable_sink.ts";

/**
 * Options of {@linkcode fromNodeWritable}.
 *
 * @example Objects, two of which may wait
 * ```ts
 * import { fromNodeWritable, type FromNodeWritableOptions } from "@millrace/streams/node";
 * import { Writable } from "node:stream";
 *
 * const options: FromNodeWritableOptions = { highWaterMark: 2 };
 * const rows = new Writable({ objectMode: true, write: (_row, _encoding, done) => done() });
 * const writer = fromNodeWritable<{ id: number }>(rows, options).getWriter();
 * console.log(writer.desiredSize); // 2
 * void writer.write({ id: 1 });
 * await writer.close();
 * ```
 */
export interface FromNodeWritableOptions {
  /**
   * How much may wait or be in flight: bytes, where strings count with their length; chunks for a writable in object
   * mode. A write takes half of that at most, so that the rest can be made ready meanwhile.
   *
   * @default 131072, or 1024 in object mode
   */
  highWaterMark?: number;
}

const BYTES = 128 * 1024;
const OBJECTS = 1024;
const METHODS = ["write", "end", "cork", "uncork", "destroy", "on", "off"];
/** A batch may have as much, whatever the high-water mark: it only counts if nobody keeps to that. */
const SMALLEST_BATCH = BYTES / 8;

/**
 * Makes a WritableStream of a writable of `node:stream`: a response of `node:http` or `node:http2`, a socket, a file,
 * standard output.
 *
 * Chunks written in one turn of the event loop go out in one `write()`: bytes and strings joined, objects and large
 * chunks one by one between `cork()` and `uncork()`. While the writable works on it, further chunks queue for the next
 * one. A chunk is a string, an ArrayBuffer or a view of one; in object mode, anything. A page of strings is best left as
 * it is: encoding a chunk costs more than writing it. If the stream closes with its only batch, a response that has sent
 * no headers yet is sent whole, with a `content-length`.
 *
 * A `write()` is fulfilled when the writable has called back, as it does when the system has the bytes. Closing the
 * stream ends the writable, and waits until it has finished; process.stdout and process.stderr stay open. If the writable
 * fails, or closes since the client has left, the stream errors at once, so that a pipe into it cancels its source.
 *
 * Aborting the stream, or a write of its that fails, destroys the writable; nothing else does. After a pipe with
 * `preventClose` it is yours: if you end it, or others do, all that was written goes out. A stream that is still in use
 * then errors with its next write, and at the latest when the writable has finished.
 *
 * A pipe that its `signal` stops waits for the batch in flight first, as every pipe does. If a client that reads nothing
 * is to be cut off at once, destroy the writable.
 *
 * @param writable The destination. Nothing else should write to it meanwhile.
 * @param options.highWaterMark How many bytes, or objects, may wait or be in flight. Default: 131,072, or 1,024 objects.
 * @throws {TypeError} if `writable` is no writable stream of Node.
 * @throws {RangeError} if `highWaterMark` is negative or NaN.
 * @example Render a page into a response
 * ```ts
 * import { fromNodeWritable } from "@millrace/streams/node";
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { createServer } from "node:http";
 *
 * const server = createServer((_request, response) => {
 *   const page = ReadableStream.from(["<!doctype html>", "<title>A page</title>"]);
 *   page.pipeTo(fromNodeWritable(response)).catch(() => {}); // the visitor has left
 * });
 * server.listen(0, () => server.close());
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types: a stream of anything unless told
export function fromNodeWritable<W = any>(
  writable: Writable,
  options: FromNodeWritableOptions = {},
): BatchedWritableStream<W> {
  requireMethods(writable, "the writable", "a writable stream of node:stream", METHODS);
  const isObjectMode = writable.writableObjectMode;
  const { highWaterMark = isObjectMode ? OBJECTS : BYTES } = options;
  const sink = new WritableSink(writable, Math.max(highWaterMark / 2 || 0, isObjectMode ? 1 : SMALLEST_BATCH));
  const strategy = isObjectMode ? { highWaterMark } : { highWaterMark, size: lengthOf };
  const stream = new BatchedWritableStream<W>(sink, strategy);
  sink.stream = stream;
  return stream;
}
