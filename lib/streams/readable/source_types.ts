import type { ReadableByteStreamController } from "./byte_controller.ts";
import type { ReadableStreamDefaultController } from "./default_controller.ts";

/**
 * An underlying source: the origin of a stream's chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-source-api}
 * @example Chunks as they are asked for
 * ```ts
 * import { ReadableStream, type UnderlyingDefaultSource } from "@millrace/streams/streams";
 *
 * function countdown(from: number): UnderlyingDefaultSource<number> {
 *   return {
 *     pull(controller) {
 *       if (from > 0) controller.enqueue(from--);
 *       else controller.close();
 *     },
 *   };
 * }
 * for await (const number of new ReadableStream(countdown(3))) console.log(number); // 3, 2, 1
 * ```
 */
export interface UnderlyingDefaultSource<R = unknown> {
  /** Called when the stream is cancelled: lets go of what the source holds. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark; not again until what it returned has settled. */
  pull?: (controller: ReadableStreamDefaultController<R>) => void | PromiseLike<void>;
  /** Called when the stream is made; nothing is pulled until what it returned has settled. */
  start?: (controller: ReadableStreamDefaultController<R>) => unknown;
  /** Left out: `"bytes"` makes it an {@linkcode UnderlyingByteSource}. */
  type?: undefined;
}

/**
 * An underlying byte source: the origin of a byte stream's bytes.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-source-api}
 * @example Bytes of which readers take as many as they like
 * ```ts
 * import { ReadableStream, type UnderlyingByteSource } from "@millrace/streams/streams";
 *
 * const zeros: UnderlyingByteSource = {
 *   type: "bytes",
 *   autoAllocateChunkSize: 1024,
 *   pull: ({ byobRequest }) => byobRequest!.respond(byobRequest!.view!.byteLength),
 * };
 * const { value } = await new ReadableStream(zeros).getReader().read();
 * console.log(value?.byteLength); // 1024
 * ```
 */
export interface UnderlyingByteSource {
  /**
   * The size in bytes of the buffers that the stream allocates for readers that bring none of their own.
   *
   * Default: none are allocated; such readers get what is enqueued.
   */
  autoAllocateChunkSize?: number;
  /** Called when the stream is cancelled: lets go of what the source holds. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark, or a view to fill. */
  pull?: (controller: ReadableByteStreamController) => void | PromiseLike<void>;
  /** Called when the stream is made; nothing is pulled until what it returned has settled. */
  start?: (controller: ReadableByteStreamController) => unknown;
  /** Makes it a byte stream. */
  type: "bytes";
}

/**
 * A source of either kind.
 *
 * @example Tell when a source is cancelled
 * ```ts
 * import { ReadableStream, type UnderlyingSource } from "@millrace/streams/streams";
 *
 * function told(source: UnderlyingSource<string>): UnderlyingSource<string> {
 *   return {
 *     ...source,
 *     cancel(reason) {
 *       console.log(`cancelled: ${reason}`); // cancelled: enough
 *       return source.cancel?.(reason);
 *     },
 *   };
 * }
 * await new ReadableStream(told({ pull: (controller) => controller.enqueue("a") })).cancel("enough");
 * ```
 */
export interface UnderlyingSource<R = unknown> {
  /** See {@linkcode UnderlyingByteSource}. */
  autoAllocateChunkSize?: number;
  /** Called when the stream is cancelled: lets go of what the source holds. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark. */
  pull?: (controller: ReadableStreamDefaultController<R> & ReadableByteStreamController) => void | PromiseLike<void>;
  /** Called when the stream is made. */
  start?: (controller: ReadableStreamDefaultController<R> & ReadableByteStreamController) => unknown;
  /** `"bytes"` for a byte stream. */
  type?: "bytes";
}
