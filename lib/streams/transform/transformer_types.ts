import type { TransformStreamDefaultController } from "./default_controller.ts";

/**
 * What makes chunks of chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#transformer-api}
 */
export interface Transformer<I = unknown, O = unknown> {
  /** Called when the readable end is cancelled or the writable one aborted. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called when all chunks are transformed, before the readable end closes: it may enqueue more. */
  flush?: (controller: TransformStreamDefaultController<O>) => void | PromiseLike<void>;
  /** Left out: the name is reserved. */
  readableType?: undefined;
  /** Called when the stream is made; nothing is transformed until what it returned has settled. */
  start?: (controller: TransformStreamDefaultController<O>) => unknown;
  /**
   * Called with each chunk; not again until what it returned has settled.
   *
   * Default: chunks pass as they are.
   */
  transform?: (chunk: I, controller: TransformStreamDefaultController<O>) => void | PromiseLike<void>;
  /** Left out: the name is reserved. */
  writableType?: undefined;
}
