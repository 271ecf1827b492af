import { byteStreams } from "#streams/byte_streams";
import { isAlwaysEager } from "#streams/host";
import {
  adoptOwnClosedPromise,
  answerNode,
  closeIfEmpty,
  EagerFeed,
  lightSideOf,
  makeNativeSideLazily,
  staysLazy,
  WatchedReadableFeed,
} from "#streams/lazy_side";
import { badValue, lockedError } from "../language/errors.ts";
import {
  hasNativeByteStreams,
  NativeReadableStream,
  replaceGlobal,
  restoreGlobal,
} from "../language/native_classes.ts";
import { lockSide } from "../native/native_locks.ts";
import { promiseRejectedWith } from "../language/promises.ts";
import {
  construct,
  defineInterface,
  isObject,
  passState,
  receiveState,
  toDictionary,
  toObject,
} from "../language/webidl.ts";
import {
  checkByteStreamFree,
  checkReadableStreamFree,
  isReadableStreamLocked,
  type NativeReadableSource,
  NO_BUFFER,
  readableStreamStateOf,
  releaseReadableFeed,
  setReadableStreamStateOf,
} from "../native/feeds/readable_feed.ts";
import type { StreamPipeOptions } from "../pipe/pipe_options.ts";
import { pipeStreams, pipeStreamThrough } from "../pipe/pipe_to.ts";
import { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../queuing/chunk_queue.ts";
import { ReadableStreamAsyncIterator } from "./async_iterator.ts";
import type { ReadableStreamBYOBReader } from "./byob_reader.ts";
import { DefaultControllerState } from "./default_controller_state.ts";
import { ReadableStreamDefaultController } from "./default_controller.ts";
import { ReadableStreamDefaultReader } from "./default_reader.ts";
import { DefaultTee } from "./default_tee.ts";
import { readableStreamFromIterable } from "./from.ts";
import { readableStreamCancel, ReadableStreamState } from "./stream_state.ts";
import {
  type UnderlyingByteSource,
  type UnderlyingDefaultSource,
  type UnderlyingSource,
  UnderlyingSourceAlgorithms,
} from "./underlying_source.ts";

/** {@link https://streams.spec.whatwg.org/#readable-stream-tee Tees} a stream; one class for both kinds would be a third slower. */
function readableStreamTee(stream: ReadableStreamState): [ReadableStreamState, ReadableStreamState] {
  const { branches } = stream.controller.type ? byteStreams!.tee(stream) : new DefaultTee(stream);
  return [branches[0].stream, branches[1].stream];
}

const NAME = "ReadableStream";

/** The function gets its name here: builds for pages assign the class's fields, which gives none. */
const named = { from: (iterable: unknown) => construct(ReadableStream, readableStreamFromIterable(iterable)) };

replaceGlobal(NAME, NativeReadableStream);
/** Whether the native side of a stream is made on demand, when the runtime looks for it. */
let isLazy = makeNativeSideLazily(NativeReadableStream, (stream) => {
  const state = readableStreamStateOf(stream);
  if (state === undefined || state.nativeSide !== undefined) return state?.nativeSide;
  state.nativeSide = lightSideOf(state) ??
    new NativeReadableStream(nativeSource(state, WatchedReadableFeed), NO_BUFFER);
  if (state.reader !== undefined) lockSide(state.reader);
  return state.nativeSide;
}, {
  onClosed: (stream) => closeIfEmpty(readableStreamStateOf(stream)!),
  stateOf: (stream) => readableStreamStateOf(stream),
});

/**
 * The standard's ReadableStream, which is also an instance of the runtime's own class: it works wherever the runtime
 * takes a ReadableStream, such as in `new Response(stream)`, native `pipeThrough()` and `structuredClone()`.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-class}
 * @example Enqueue chunks on demand
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * let n = 0;
 * const numbers = new ReadableStream<number>({
 *   pull(controller) {
 *     if (n < 3) controller.enqueue(n++);
 *     else controller.close();
 *   },
 * });
 * for await (const number of numbers) console.log(number); // 0, 1, 2
 * ```
 */
// The base class has chunks of any type: one constructor of Bun's types takes only byte streams. All members declare R.
// deno-lint-ignore no-explicit-any -- as in the platform's own types, chunks have any type by default
export class ReadableStream<R = any> extends globalThis.ReadableStream<any> {
  readonly #state!: ReadableStreamState; // unset in a native stream that the constructor returns

  /** Creates a byte stream over an underlying source. */
  constructor(underlyingSource: UnderlyingByteSource, strategy?: { highWaterMark?: number });
  /** Creates a stream over an underlying source. */
  constructor(underlyingSource: UnderlyingDefaultSource<R>, strategy?: QueuingStrategy<R>);
  /** Creates a stream over an underlying source of either kind, or without one. */
  constructor(underlyingSource?: UnderlyingSource<R>, strategy?: QueuingStrategy<R>);
  /**
   * Creates a stream over an underlying source.
   *
   * @param underlyingSource the source of chunks; `type: "bytes"` creates a byte stream.
   * @param strategy the size of chunks, and the limit of those buffered; by default one chunk, for a byte stream 0
   * bytes.
   * @throws {TypeError} if an argument or a member is of the wrong type.
   * @throws {RangeError} if the high-water mark is negative or NaN, or a byte stream's strategy has a size function.
   */
  constructor(
    underlyingSource: UnderlyingSource<R> | UnderlyingByteSource | undefined = undefined,
    strategy: QueuingStrategy<R> | undefined = undefined,
  ) {
    const state = receiveState<ReadableStreamState>() ?? setUpFromUnderlyingSource(underlyingSource, strategy);
    if (!state.controller) return state as unknown as this; // the constructor returns a native stream
    super(isAlwaysEager || !isLazy ? nativeSource(state, EagerFeed) : undefined, NO_BUFFER);
    this.#state = state;
    state.shell = this;
    if (isAlwaysEager || !isLazy) {
      state.nativeSide = this;
      adoptOwnClosedPromise(state, this);
    }
  }

  /**
   * Creates a stream over an iterable or async iterable. No chunk is buffered, and cancelling calls the iterator's
   * `return`.
   *
   * @throws {TypeError} if the argument is not an iterable object: since July 2026 the standard refuses strings, too.
   * @example From an array, and back
   * ```ts
   * import { ReadableStream } from "@millrace/streams/streams";
   *
   * console.log(await Array.fromAsync(ReadableStream.from(["a", "b"]))); // [ "a", "b" ]
   * ```
   */
  // @ts-ignore: an override in Deno's types, which have it, and none in TypeScript's, which do not yet
  static readonly from: <T>(asyncIterable: AsyncIterable<T> | Iterable<T | PromiseLike<T>>) => ReadableStream<T> = named
    .from as never;

  /** Whether a reader, a pipe or the runtime has locked the stream. */
  override get locked(): boolean {
    return isObject(this) && #state in this ? isReadableStreamLocked(this.#state) : super.locked;
  }

  /**
   * Cancels the stream: buffered chunks are dropped. Settles when its source has released its resources; rejects with a
   * TypeError if the stream is locked.
   */
  override cancel(reason: unknown = undefined): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.cancel(reason);
    const state = this.#state;
    if (isReadableStreamLocked(state)) return promiseRejectedWith(lockedError("cancel"));
    releaseReadableFeed(state);
    return readableStreamCancel(state, reason);
  }

  /** Locks the stream to a new reader that fills the caller's buffers. */
  override getReader(options: { mode: "byob" }): ReadableStreamBYOBReader;
  /** Locks the stream to a new reader. */
  override getReader(): ReadableStreamDefaultReader<R>;
  /** Locks the stream to a new reader, of the kind that `mode` selects. */
  override getReader(
    options?: { mode?: "byob" },
    // The platform's type of BYOB readers: pipeThrough() would infer chunks of ArrayBufferView from this package's.
  ): ReadableStreamDefaultReader<R> | globalThis.ReadableStreamBYOBReader;
  /**
   * Locks the stream to a new reader.
   *
   * @param options `mode: "byob"` for a reader that fills the caller's buffers.
   * @throws {TypeError} if the stream is locked, the mode is unknown, or the stream is no byte stream and `mode` is "byob".
   */
  override getReader(
    options: { mode?: "byob" } | undefined = undefined,
  ): ReadableStreamDefaultReader<R> | ReadableStreamBYOBReader {
    if (!isObject(this) || !(#state in this)) {
      return super.getReader(options as undefined) as ReadableStreamDefaultReader<R>;
    }
    const mode = toDictionary(options, "the options").mode;
    if (mode === undefined) return new ReadableStreamDefaultReader<R>(this);
    if (`${mode}` !== "byob") throw badValue(`mode must be "byob" or undefined, not "${mode}"`);
    checkByteStreamFree(this.#state);
    return byteStreams!.getReader(this as unknown as ReadableStream<Uint8Array<ArrayBuffer>>);
  }

  /**
   * Pipes the stream into a transform's writable end and returns its readable end.
   *
   * @param transform a TransformStream, or any pair of `readable` and `writable`, of this package or native.
   * @param options the options of {@linkcode ReadableStream.pipeTo}.
   * @throws {TypeError} if this stream or the writable end is locked, or an argument is of the wrong type.
   */
  override pipeThrough<S extends globalThis.ReadableStream>(
    transform: { readable: S; writable: globalThis.WritableStream<R> },
    options?: StreamPipeOptions,
  ): S;
  /** Pipes the stream through a transform, with an explicit type of chunks. */
  override pipeThrough<T>(
    transform: { readable: globalThis.ReadableStream<T>; writable: globalThis.WritableStream<R> },
    options?: StreamPipeOptions,
  ): globalThis.ReadableStream<T>;
  override pipeThrough<T>(
    transform: { readable: globalThis.ReadableStream<T>; writable: globalThis.WritableStream<R> },
    options: StreamPipeOptions | undefined = undefined,
  ): globalThis.ReadableStream<T> {
    if (!isObject(this) || !(#state in this)) return super.pipeThrough(transform, options);
    return pipeStreamThrough(this, transform, options) as never;
  }

  /**
   * Pipes the stream into a writable stream, of this package or native; settles when all chunks are written and the
   * destination is closed. Rejects with the error of the end that failed, with the signal's reason, or with a TypeError
   * if an end is locked or not a stream.
   *
   * @param destination the destination of chunks.
   * @param options `preventClose`, `preventAbort` and `preventCancel`, all false by default, keep an end open; `signal`
   * stops the pipe.
   */
  override pipeTo(
    destination: globalThis.WritableStream<R>,
    options: StreamPipeOptions | undefined = undefined,
  ): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.pipeTo(destination, options);
    return pipeStreams(this, destination, options);
  }

  /** The same method as {@linkcode ReadableStream.values}. */
  declare [Symbol.asyncIterator]: (options?: { preventCancel?: boolean }) => AsyncIteratorObject<R, undefined, unknown>;

  /**
   * Splits the stream into two streams of the same chunks; a byte stream's bytes are copied. The slower one buffers all
   * chunks that the faster one has read, without limit.
   *
   * @throws {TypeError} if the stream is locked.
   */
  override tee(): [ReadableStream<R>, ReadableStream<R>] {
    if (!isObject(this) || !(#state in this)) return super.tee() as [ReadableStream<R>, ReadableStream<R>];
    const state = this.#state;
    checkReadableStreamFree(state, "tee");
    const [first, second] = readableStreamTee(state);
    return [construct(ReadableStream<R>, first), construct(ReadableStream<R>, second)];
  }

  /**
   * Iterates over the chunks; leaving the loop early cancels the stream.
   *
   * @param options `preventCancel`, false by default, keeps the stream open when the loop is left.
   * @throws {TypeError} if the stream is locked.
   */
  override values(
    options: { preventCancel?: boolean } | undefined = undefined,
  ): AsyncIteratorObject<R, undefined, unknown> {
    if (!isObject(this) || !(#state in this)) return super.values(options);
    const state = this.#state;
    const preventCancel = Boolean(toDictionary(options, "the options").preventCancel);
    checkReadableStreamFree(state, "iterate");
    const iterator = new ReadableStreamAsyncIterator<R>(state, preventCancel);
    return iterator as unknown as AsyncIteratorObject<R, undefined, unknown>; // the other members are inherited
  }

  static {
    setReadableStreamStateOf((stream) => isObject(stream) && #state in stream ? stream.#state : undefined);
  }
}
answerNode(ReadableStream, "readable", readableStreamStateOf);
defineInterface(ReadableStream, NAME);
Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
  value: ReadableStream.prototype.values,
  writable: true,
  configurable: true,
});
restoreGlobal();
isLazy &&= staysLazy(ReadableStream);

function nativeSource(
  state: ReadableStreamState,
  Feed: typeof NativeReadableSource,
): globalThis.UnderlyingDefaultSource {
  const type = hasNativeByteStreams ? state.controller.type : undefined;
  return new Feed(state, type) as globalThis.UnderlyingDefaultSource;
}

function setUpFromUnderlyingSource(underlyingSource: unknown, strategy: unknown): ReadableStreamState {
  if (underlyingSource !== undefined) toObject(underlyingSource, "the underlying source");
  const queuing = toStrategy(strategy);
  const source = new UnderlyingSourceAlgorithms(underlyingSource);
  const state = new ReadableStreamState();
  if (byteStreams && source.type === "bytes") {
    byteStreams.setUp(state, source, queuing);
  } else if (source.type !== undefined) {
    try {
      // Programs for one runtime may use its own types, such as Bun's "direct".
      return new NativeReadableStream(underlyingSource as never, strategy as never) as never;
    } catch (error) {
      if (source.type === "bytes") throw error; // of the source or the strategy
      throw badValue(`the underlying source's type must be "bytes" or undefined, not "${source.type}"`);
    }
  } else {
    const size = extractSizeAlgorithm(queuing);
    const controller = new DefaultControllerState(state, source, extractHighWaterMark(queuing, 1), size);
    state.controller = controller;
    passState(controller);
    controller.start(source.callStart(new ReadableStreamDefaultController()));
  }
  return state;
}
