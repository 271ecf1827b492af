import { endedError, lockedError, wrongThis } from "../errors.ts";
import { makeNativeSideLazily } from "../native/lazy_side.ts";
import { NativeWritableStream } from "../native/native_classes.ts";
import { adoptOwnClosedPromise, answerNode } from "../native/node_interop.ts";
import { FeedWriterState, releaseWritableFeed, WritableFeed } from "../native/writable_feed.ts";
import { promiseRejectedWith } from "../promises.ts";
import { giveState, takeState } from "../shell.ts";
import { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../strategies.ts";
import { defineInterface, isObject, toObject } from "../webidl.ts";
import {
  createWritableStream,
  startWritableStreamDefaultController,
  writableStreamDefaultControllerErrorIfNeeded,
} from "./controller_state.ts";
import { WritableStreamDefaultController } from "./default_controller.ts";
import { WritableStreamDefaultWriter } from "./default_writer.ts";
import { defineWritableStreamAccess } from "./lockable.ts";
import {
  writableStreamAbort,
  writableStreamClose,
  writableStreamCloseQueuedOrInFlight,
  writableStreamEnded,
  type WritableStreamState,
} from "./stream_state.ts";
import type { UnderlyingSink } from "./sink_types.ts";
import { UnderlyingSinkAlgorithms } from "./underlying_sink.ts";

const NAME = "WritableStream";

/** Whether the native side of a stream is made when the runtime looks for it. */
let isLazy = false;

/**
 * A stream to write chunks to, as the standard has it, that is also one of the runtime's own: it goes wherever the
 * runtime takes a WritableStream (native `pipeTo()`, `structuredClone()`).
 *
 * @see {@link https://streams.spec.whatwg.org/#ws-class}
 * @example
 * ```ts
 * import { ReadableStream, WritableStream } from "@millrace/streams/streams";
 *
 * const lines = new WritableStream<string>({ write: (line) => console.log(line) });
 * await ReadableStream.from(["a", "b"]).pipeTo(lines);
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types: a stream of anything unless told
export class WritableStream<W = any> extends globalThis.WritableStream<W> {
  readonly #state: WritableStreamState;
  /** What stands for the stream where the runtime handles it: the stream itself, or what is made when that looks. */
  #nativeSide: object | undefined;

  /**
   * Makes a stream of an underlying sink.
   *
   * @param underlyingSink where chunks go.
   * @param strategy how much may wait; by default one chunk.
   * @throws {TypeError} if an argument or a member is of the wrong type.
   * @throws {RangeError} if the high-water mark is negative or NaN, or the sink has a `type`.
   */
  constructor(
    underlyingSink: UnderlyingSink<W> | undefined = undefined,
    strategy: QueuingStrategy<W> | undefined = undefined,
  ) {
    const state = takeState<WritableStreamState>() ?? setUpFromUnderlyingSink(underlyingSink, strategy);
    super(isLazy ? undefined : new WritableFeed(state));
    this.#state = state;
    this.#nativeSide = isLazy ? undefined : this;
    state.shell = this;
    if (!isLazy) adoptOwnClosedPromise(state, this);
  }

  /** Whether a writer, a pipe or the runtime has locked the stream. */
  override get locked(): boolean {
    const { writer } = this.#state;
    return (writer !== undefined && !(writer instanceof FeedWriterState)) ||
      (this.#nativeSide !== undefined && super.locked);
  }

  /**
   * Errors the stream at once; chunks that wait are dropped. Settles when the sink has let go of what it holds; rejects
   * with a TypeError if the stream is locked.
   */
  override abort(reason: unknown = undefined): Promise<void> {
    if (!isObject(this) || !(#state in this)) return promiseRejectedWith(wrongThis("abort", NAME));
    if (this.locked) return promiseRejectedWith(lockedError("abort"));
    releaseWritableFeed(this.#state);
    return writableStreamAbort(this.#state, reason);
  }

  /**
   * Closes the stream when all chunks are written; settles when the sink has closed. Rejects with a TypeError if the
   * stream is locked, closed or closing.
   */
  override close(): Promise<void> {
    if (!isObject(this) || !(#state in this)) return promiseRejectedWith(wrongThis("close", NAME));
    if (this.locked) return promiseRejectedWith(lockedError("close"));
    if (writableStreamCloseQueuedOrInFlight(this.#state)) {
      return promiseRejectedWith(endedError("close", "closing"));
    }
    releaseWritableFeed(this.#state);
    return writableStreamClose(this.#state);
  }

  /**
   * Locks the stream to a new writer.
   *
   * @throws {TypeError} if the stream is locked.
   */
  override getWriter(): WritableStreamDefaultWriter<W> {
    this.#state; // brand check
    return new WritableStreamDefaultWriter<W>(this);
  }

  static {
    answerNode(WritableStream, {
      isErrored: (stream) => (stream as WritableStream).#state.state === "errored",
      isWritable: (stream) => (stream as WritableStream).#state.state === "writable",
      ended: (stream) => writableStreamEnded((stream as WritableStream).#state),
      error: (stream, error) =>
        writableStreamDefaultControllerErrorIfNeeded((stream as WritableStream).#state.controller, error),
    });
    defineWritableStreamAccess({
      stateOf: (stream) => isObject(stream) && #state in stream ? stream.#state : undefined,
      lock: (stream) => {
        const own = stream as WritableStream;
        if (own.locked) return false;
        releaseWritableFeed(own.#state);
        return true;
      },
    });
    isLazy = makeNativeSideLazily(WritableStream, NativeWritableStream, (stream) => {
      if (!(#state in stream)) return undefined;
      return stream.#nativeSide ??= new NativeWritableStream(new WritableFeed(stream.#state));
    });
  }
}
defineInterface(WritableStream, NAME);

function setUpFromUnderlyingSink(underlyingSink: unknown, strategy: unknown): WritableStreamState {
  if (underlyingSink !== undefined) toObject(underlyingSink, "the underlying sink");
  const queuing = toStrategy(strategy);
  const sink = new UnderlyingSinkAlgorithms(underlyingSink);
  const size = extractSizeAlgorithm(queuing);
  const state = createWritableStream(sink, extractHighWaterMark(queuing, 1), size);
  giveState(state.controller);
  startWritableStreamDefaultController(state.controller, sink.callStart(new WritableStreamDefaultController()));
  return state;
}
