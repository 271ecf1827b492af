import type { WritableStreamDefaultController } from "./default_controller.ts";

/**
 * Where the chunks of a stream go.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-sink-api}
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
