import { releasedError } from "../language/errors.ts";
import { isAlwaysEager } from "#streams/host";
import { findStates, makeLockLazily } from "#streams/lazy_side";
import {
  isNativeReadableStreamLocked,
  NativeReadableStream,
  NativeReadableStreamDefaultReader,
  replaceGlobal,
  restoreGlobal,
} from "../language/native_classes.ts";
import { promiseRejectedWith } from "../language/promises.ts";
import { defineInterface, isObject } from "../language/webidl.ts";
import { checkReadableStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import {
  DefaultReaderState,
  disturb,
  PromiseReadRequest,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
  servedRead,
} from "./stream_state.ts";

const NAME = "ReadableStreamDefaultReader";

replaceGlobal(NAME, NativeReadableStreamDefaultReader);
const isLazy = makeLockLazily(NAME, () => ({
  native: NativeReadableStreamDefaultReader,
  makeStream: () => new NativeReadableStream(),
  look: isNativeReadableStreamLocked,
}));

/**
 * Reads a stream chunk by chunk.
 *
 * @see {@link https://streams.spec.whatwg.org/#default-reader-class}
 * @example Read chunk by chunk
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const reader = ReadableStream.from(["a", "b"]).getReader();
 * for (let read = await reader.read(); !read.done; read = await reader.read()) console.log(read.value); // a, b
 * ```
 */
export class ReadableStreamDefaultReader<R = unknown> extends globalThis.ReadableStreamDefaultReader<R> {
  readonly #state!: DefaultReaderState;

  /**
   * Locks a stream, as `stream.getReader()` does.
   *
   * @throws {TypeError} if `stream` is not a ReadableStream of this package, or is locked.
   */
  constructor(stream: ReadableStream<R>) {
    const streamState = readableStreamStateOf(stream);
    if (streamState === undefined) {
      return Reflect.construct(NativeReadableStreamDefaultReader, [stream], new.target) as never;
    }
    checkReadableStreamFree(streamState, "get a reader");
    super(stream as globalThis.ReadableStream<R>); // locks the native side
    const state = new DefaultReaderState();
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

  /** Reads the next chunk; rejects if the stream errors or the reader was released. */
  // Only Bun's types have readMany(). They add a second result to that of Node's or the DOM's: this type includes both.
  // Results with chunks keep the platform's type: inference from a type of this package's would add undefined to R.
  override read(): [globalThis.ReadableStreamDefaultReader<R>, globalThis.ReadableStream<R>["getReader"]] extends [
    { readMany: unknown },
    { (): { read: { (): Promise<infer A>; (): Promise<infer B> } }; (options?: never): unknown },
  ] ? Promise<Extract<A, { done: false }> | Extract<B, { done: false }> | { done: true; value: undefined }>
    : ReturnType<globalThis.ReadableStreamDefaultReader<R>["read"]> {
    if (!isObject(this) || !(#state in this)) return super.read();
    const { stream } = this.#state;
    if (stream === undefined) return promiseRejectedWith(releasedError("read", "reader"));
    if (stream.controller.hasBuffered) { // without a request, which cannot be observed
      disturb(stream);
      return servedRead(stream.controller.readBuffered()) as ReturnType<this["read"]>;
    }
    const request = new PromiseReadRequest();
    readableStreamDefaultReaderRead(this.#state, request);
    return request.promise as ReturnType<this["read"]>;
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
defineInterface(ReadableStreamDefaultReader, NAME);
