import { callbackResult } from "../language/promises.ts";
import { type Callback, toCallback, toDictionary, toUnsignedLongLong } from "../language/webidl.ts";
import type { ReadableByteStreamController } from "./byte_controller.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import type { ReadableStreamDefaultController } from "./default_controller.ts";

/**
 * An underlying source: the origin of a stream's chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-source-api}
 * @example Enqueue chunks on demand
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
  /** Called when the stream is cancelled: releases the source's resources. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark, and again only once the returned promise has settled. */
  pull?: (controller: ReadableStreamDefaultController<R>) => void | PromiseLike<void>;
  /** Called when the stream is created. Pulling starts once the promise that it returns has settled. */
  start?: (controller: ReadableStreamDefaultController<R>) => unknown;
  /** Must be undefined; `"bytes"` makes the source an {@linkcode UnderlyingByteSource}. */
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
   * The size in bytes of the buffers that the stream allocates for default readers.
   *
   * Default: none are allocated; default readers get the enqueued views.
   */
  autoAllocateChunkSize?: number;
  /** Called when the stream is cancelled: releases the source's resources. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark, or a view to fill. */
  pull?: (controller: ReadableByteStreamController) => void | PromiseLike<void>;
  /** Called when the stream is created. Pulling starts once the promise that it returns has settled. */
  start?: (controller: ReadableByteStreamController) => unknown;
  /** Makes the stream a byte stream. */
  type: "bytes";
}

/**
 * A source of either kind.
 *
 * @example Log when a source is cancelled
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
  /** The size of allocated buffers; see {@linkcode UnderlyingByteSource}. */
  autoAllocateChunkSize?: number;
  /** Called when the stream is cancelled: releases the source's resources. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called while there is room below the high-water mark. */
  pull?: (controller: ReadableStreamDefaultController<R> & ReadableByteStreamController) => void | PromiseLike<void>;
  /** Called when the stream is created. */
  start?: (controller: ReadableStreamDefaultController<R> & ReadableByteStreamController) => unknown;
  /** `"bytes"` for a byte stream. */
  type?: "bytes";
}

/** A {@link https://streams.spec.whatwg.org/#dictdef-underlyingsource UnderlyingSource}, converted: its algorithms. */
export class UnderlyingSourceAlgorithms implements SourceAlgorithms {
  autoAllocateChunkSize: number | undefined;
  /** "bytes" for a byte stream, or a type that only the runtime knows. */
  type: string | undefined;
  readonly #source: unknown;
  #controller: object | undefined;
  #start: Callback | undefined;
  #pull: Callback | undefined;
  #cancel: Callback | undefined;

  /** Reads the dictionary's members in the order of their names. */
  constructor(value: unknown) {
    this.#source = value;
    const source = toDictionary(value, "the underlying source");
    const size = source.autoAllocateChunkSize;
    if (size !== undefined) this.autoAllocateChunkSize = toUnsignedLongLong(size, "autoAllocateChunkSize");
    this.#cancel = toCallback(source.cancel, "the underlying source's cancel");
    this.#pull = toCallback(source.pull, "the underlying source's pull");
    this.#start = toCallback(source.start, "the underlying source's start");
    const { type } = source;
    if (type !== undefined) this.type = `${type}`;
  }

  /** Whether there is no underlying source, so that only the stream's creator can close it. */
  get isNone(): boolean {
    return this.#source === undefined;
  }

  /** Calls start with the controller that the other algorithms will get. */
  callStart(controller: object): unknown {
    this.#controller = controller;
    return this.#start?.call(this.#source, controller);
  }

  pull(): unknown {
    return this.#pull?.call(this.#source, this.#controller);
  }

  cancel(reason: unknown): unknown {
    return callbackResult(this.#cancel?.call(this.#source, reason));
  }
}
