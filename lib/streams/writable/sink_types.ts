import type { WritableStreamDefaultController } from "./default_controller.ts";

/**
 * An underlying sink: the destination of a stream's chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-sink-api}
 * @example A sink that keeps what it counts
 * ```ts
 * import { ReadableStream, type UnderlyingSink, WritableStream } from "@millrace/streams/streams";
 *
 * class Counter implements UnderlyingSink<string> {
 *   lines = 0;
 *   write(): void {
 *     this.lines++;
 *   }
 * }
 * const counter = new Counter();
 * await ReadableStream.from(["a", "b", "c"]).pipeTo(new WritableStream(counter));
 * console.log(counter.lines); // 3
 * ```
 */
export interface UnderlyingSink<W = unknown> {
  /** Called when the stream is aborted: lets go of what the sink holds, without finishing. */
  abort?: (reason: unknown) => void | PromiseLike<void>;
  /** Called when the stream is closed and all chunks are written. */
  close?: () => void | PromiseLike<void>;
  /** Called when the stream is made; nothing is written until what it returned has settled. */
  start?: (controller: WritableStreamDefaultController) => unknown;
  /** Left out: the name is reserved. */
  type?: undefined;
  /** Called with each chunk; not again until what it returned has settled. */
  write?: (chunk: W, controller: WritableStreamDefaultController) => void | PromiseLike<void>;
}
