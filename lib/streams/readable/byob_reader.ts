import { NOT_EMPTY, toArrayBufferView, viewKind, type ViewSlots } from "../language/array_buffers.ts";
import { badValue, cannot, outOfRange, releasedError } from "../language/errors.ts";
import { isAlwaysEager } from "#streams/host";
import { findStates, makeLockLazily } from "#streams/lazy_side";
import {
  isNativeReadableStreamLocked,
  NativeReadableStream,
  NativeReadableStreamBYOBReader,
  replaceGlobal,
  restoreGlobal,
} from "../language/native_classes.ts";
import { promiseRejectedWith } from "../language/promises.ts";
import { defineInterface, isObject, toDictionary, toUnsignedLongLong } from "../language/webidl.ts";
import { checkByteStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import {
  ByobReaderState,
  PromiseReadRequest,
  readableStreamByobReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
} from "./stream_state.ts";

const NAME = "ReadableStreamBYOBReader";

/**
 * Options of {@linkcode ReadableStreamBYOBReader.read}.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-readablestreambyobreaderreadoptions}
 * @example Read a header of four bytes, however they arrive
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const stream = new ReadableStream({
 *   type: "bytes",
 *   start(controller) {
 *     controller.enqueue(new Uint8Array([1, 2, 3]));
 *     setTimeout(() => controller.enqueue(new Uint8Array([4, 5, 6])), 10);
 *   },
 * });
 * const { value } = await stream.getReader({ mode: "byob" }).read(new Uint8Array(4), { min: 4 });
 * console.log(value); // Uint8Array(4) [ 1, 2, 3, 4 ]
 * ```
 */
export interface ReadableStreamBYOBReaderReadOptions {
  /**
   * The minimum number of elements to fill before the promise fulfils; fewer if the stream ends.
   *
   * @default 1
   */
  min?: number;
}

replaceGlobal(NAME, NativeReadableStreamBYOBReader);
const isLazy = makeLockLazily(NAME, () => ({
  native: NativeReadableStreamBYOBReader,
  makeStream: () => new NativeReadableStream({ type: "bytes" }),
  look: isNativeReadableStreamLocked,
}));

/**
 * Reads a byte stream into buffers of the caller.
 *
 * @see {@link https://streams.spec.whatwg.org/#byob-reader-class}
 * @example Read into a buffer of one's own
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const stream = new ReadableStream({
 *   type: "bytes",
 *   start(controller) {
 *     controller.enqueue(new Uint8Array([1, 2, 3]));
 *     controller.close();
 *   },
 * });
 * const { value } = await stream.getReader({ mode: "byob" }).read(new Uint8Array(1024));
 * console.log(value); // Uint8Array(3) [ 1, 2, 3 ]
 * ```
 */
export class ReadableStreamBYOBReader extends globalThis.ReadableStreamBYOBReader {
  readonly #state!: ByobReaderState;

  /**
   * Locks a stream, as `stream.getReader({ mode: "byob" })` does.
   *
   * @throws {TypeError} if `stream` is not a byte stream of this package, or is locked.
   */
  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    const streamState = readableStreamStateOf(stream);
    if (streamState === undefined) {
      return Reflect.construct(NativeReadableStreamBYOBReader, [stream], new.target) as never;
    }
    checkByteStreamFree(streamState);
    super(stream as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>); // locks the native side
    const state = new ByobReaderState();
    this.#state = state;
    state.isPublic = true;
    if (isAlwaysEager || !isLazy) state.nativeSide = this;
    readableStreamReaderGenericInitialize(state, streamState);
  }

  /** Fulfils when the stream closes; rejects when it errors or the reader is released. */
  override get closed(): Promise<void> {
    return isObject(this) && #state in this ? this.#state.closed.promise : super.closed;
  }

  /** Cancels the stream; settles when its source has released its resources. Rejects if the reader was released. */
  override cancel(reason: unknown = undefined): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.cancel(reason);
    return readableStreamReaderGenericCancel(this.#state, reason);
  }

  /**
   * Reads into a view; its buffer is transferred, and comes back in the result's view.
   *
   * Rejects with a TypeError if the argument is not a view, or the view is empty, detached or over shared memory, or
   * the reader was released; with a RangeError if `min` is more than the view has room for; with the stream's error if
   * the stream errors.
   */
  // Only the DOM's types name the platform's result. Default readers have the same result, except in Bun's types.
  override read<T extends ArrayBufferView>(
    view: T,
    options: ReadableStreamBYOBReaderReadOptions | undefined = undefined,
  ): globalThis.ReadableStreamDefaultReader extends { readMany: unknown }
    ? Promise<{ done: false; value: T } | { done: true; value: T | undefined }>
    : ReturnType<globalThis.ReadableStreamDefaultReader<T>["read"]> {
    if (!isObject(this) || !(#state in this)) return super.read(view as never, options) as never;
    let slots: ViewSlots;
    let min: number;
    try {
      slots = toArrayBufferView(view, "the view");
      min = toUnsignedLongLong(toDictionary(options, "the options").min ?? 1, "min");
      checkView(slots, min);
    } catch (error) {
      return promiseRejectedWith(error);
    }
    if (this.#state.stream === undefined) return promiseRejectedWith(releasedError("read", "reader"));
    const request = new PromiseReadRequest();
    readableStreamByobReaderRead(this.#state, slots, min, request);
    return request.promise as ReturnType<globalThis.ReadableStreamDefaultReader<T>["read"]>;
  }

  /** Releases the lock; pending reads reject with a TypeError. */
  override releaseLock(): void {
    if (!isObject(this) || !(#state in this)) return super.releaseLock();
    const state = this.#state;
    if (state.stream === undefined) return;
    readableStreamReaderRelease(state);
    if (isAlwaysEager || !isLazy) super.releaseLock();
  }

  static {
    findStates(NAME, (lock) => #state in lock ? lock.#state : undefined);
  }
}
restoreGlobal();
defineInterface(ReadableStreamBYOBReader, NAME);

function checkView({ byteLength, typeName }: ViewSlots, min: number): void {
  if (byteLength === 0) throw cannot("read", `the view must be ${NOT_EMPTY}`);
  if (min === 1) return;
  if (min === 0) throw badValue("min must be at least 1");
  const elements = byteLength / viewKind(typeName).elementSize;
  if (min > elements) throw outOfRange(`min is ${min}, but the view has only ${elements} elements`, "ERR_OUT_OF_RANGE");
}
