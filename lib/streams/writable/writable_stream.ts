import { lockedError } from "../language/errors.ts";
import { isAlwaysEager } from "#streams/host";
import { adoptOwnClosedPromise, answerNode, endedSideOf, makeNativeSideLazily, staysLazy } from "#streams/lazy_side";
import { NativeWritableStream, replaceGlobal, restoreGlobal } from "../language/native_classes.ts";
import {
  isWritableStreamLocked,
  NativeWritableSink,
  releaseWritableFeed,
  setWritableStreamStateOf,
  writableStreamStateOf,
} from "../native/feeds/writable_feed.ts";
import { lockSide } from "../native/native_locks.ts";
import { markAsHandled, promiseRejectedWith } from "../language/promises.ts";
import { defineInterface, isObject, receiveState, toObject } from "../language/webidl.ts";
import { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../queuing/chunk_queue.ts";
import { createWritableStream, startWritableStreamDefaultController } from "./controller_state.ts";
import { WritableStreamDefaultWriter } from "./default_writer.ts";
import { writableStreamAbort, writableStreamClose, type WritableStreamState } from "./stream_state.ts";
import { type UnderlyingSink, UnderlyingSinkAlgorithms } from "./underlying_sink.ts";

const NAME = "WritableStream";

replaceGlobal(NAME, NativeWritableStream);
/** Whether the native side of a stream is made on demand, when the runtime looks for it. */
let isLazy = makeNativeSideLazily(NativeWritableStream, (stream) => {
  const state = writableStreamStateOf(stream);
  if (state === undefined || state.nativeSide !== undefined) return state?.nativeSide;
  const feed = new NativeWritableSink(state);
  state.nativeSide = endedSideOf(state, feed) ?? new NativeWritableStream(feed, feed.strategy(2));
  if (state.writer !== undefined) lockSide(state.writer);
  return state.nativeSide;
});

/**
 * The standard's WritableStream, which is also an instance of the runtime's own class: it works wherever the runtime
 * takes a WritableStream, such as in native `pipeTo()` and `structuredClone()`.
 *
 * @see {@link https://streams.spec.whatwg.org/#ws-class}
 * @example A stream that prints
 * ```ts
 * import { ReadableStream, WritableStream } from "@millrace/streams/streams";
 *
 * const printer = new WritableStream<string>({
 *   write(line) {
 *     console.log(line); // a, b
 *   },
 * });
 * await ReadableStream.from(["a", "b"]).pipeTo(printer);
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types, chunks have any type by default
export class WritableStream<W = any> extends globalThis.WritableStream<W> {
  readonly #state: WritableStreamState;

  /**
   * Creates a stream over an underlying sink.
   *
   * @param underlyingSink the destination of chunks.
   * @param strategy the size of chunks, and the limit of those queued or in flight; by default one chunk.
   * @throws {TypeError} if an argument or a member is of the wrong type.
   * @throws {RangeError} if the high-water mark is negative or NaN, or the sink has a `type`.
   */
  constructor(
    underlyingSink: UnderlyingSink<W> | undefined = undefined,
    strategy: QueuingStrategy<W> | undefined = undefined,
  ) {
    const state = receiveState<WritableStreamState>() ?? setUpFromUnderlyingSink(underlyingSink, strategy);
    const feed = isAlwaysEager || !isLazy ? new NativeWritableSink(state) : undefined;
    super(feed, feed?.strategy(2));
    this.#state = state;
    state.shell = this;
    if (isAlwaysEager || !isLazy) {
      state.nativeSide = this;
      adoptOwnClosedPromise(state, this);
    }
  }

  /** Whether a writer, a pipe or the runtime has locked the stream. */
  override get locked(): boolean {
    return isObject(this) && #state in this ? isWritableStreamLocked(this.#state) : super.locked;
  }

  /**
   * Errors the stream at once; queued chunks are dropped. Settles when the sink has released its resources; rejects
   * with a TypeError if the stream is locked.
   */
  override abort(reason: unknown = undefined): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.abort(reason);
    const state = this.#state;
    if (isWritableStreamLocked(state)) return promiseRejectedWith(lockedError("abort"));
    releaseWritableFeed(state);
    return writableStreamAbort(state, reason);
  }

  /**
   * Closes the stream when all chunks are written; settles when the sink has closed. Rejects with a TypeError if the
   * stream is locked, closed or closing.
   */
  override close(): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.close();
    const state = this.#state;
    if (isWritableStreamLocked(state)) return promiseRejectedWith(lockedError("close"));
    releaseWritableFeed(state);
    const closed = writableStreamClose(state);
    if (isAlwaysEager || state.nativeSide !== undefined) markAsHandled(super.close());
    return closed;
  }

  /**
   * Locks the stream to a new writer.
   *
   * @throws {TypeError} if the stream is locked.
   */
  override getWriter(): WritableStreamDefaultWriter<W> {
    if (!isObject(this) || !(#state in this)) return super.getWriter() as WritableStreamDefaultWriter<W>;
    return new WritableStreamDefaultWriter<W>(this);
  }

  static {
    setWritableStreamStateOf((stream) => isObject(stream) && #state in stream ? stream.#state : undefined);
  }
}
answerNode(WritableStream, "writable", writableStreamStateOf);
defineInterface(WritableStream, NAME);
restoreGlobal();
isLazy &&= staysLazy(WritableStream);

function setUpFromUnderlyingSink(underlyingSink: unknown, strategy: unknown): WritableStreamState {
  if (underlyingSink !== undefined) toObject(underlyingSink, "the underlying sink");
  const queuing = toStrategy(strategy);
  const sink = new UnderlyingSinkAlgorithms(underlyingSink);
  const size = extractSizeAlgorithm(queuing);
  const state = createWritableStream(sink, extractHighWaterMark(queuing, 1), size);
  startWritableStreamDefaultController(state.controller, sink.callStart(state.controller));
  return state;
}
