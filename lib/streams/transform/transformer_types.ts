import type { TransformStreamDefaultController } from "./default_controller.ts";

/**
 * A transformer: turns the chunks written to a stream into the chunks read from it.
 *
 * @see {@link https://streams.spec.whatwg.org/#transformer-api}
 * @example A transform with a last word
 * ```ts
 * import { ReadableStream, type Transformer, TransformStream } from "@millrace/streams/streams";
 *
 * function total(): Transformer<number, number> {
 *   let sum = 0;
 *   return {
 *     transform: (number) => void (sum += number),
 *     flush: (controller) => controller.enqueue(sum),
 *   };
 * }
 * const sums = ReadableStream.from([1, 2, 3]).pipeThrough(new TransformStream(total()));
 * for await (const sum of sums) console.log(sum); // 6
 * ```
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
