import { releasedError } from "../language/errors.ts";
import { isAlwaysEager } from "#streams/host";
import { findStates, makeLockLazily } from "#streams/lazy_side";
import {
  isNativeWritableStreamLocked,
  NativeWritableStream,
  NativeWritableStreamDefaultWriter,
  replaceGlobal,
  restoreGlobal,
} from "../language/native_classes.ts";
import { promiseRejectedWith } from "../language/promises.ts";
import { defineInterface, isObject } from "../language/webidl.ts";
import { checkWritableStreamFree, writableStreamStateOf } from "../native/feeds/writable_feed.ts";
import { writableStreamAbort, writableStreamClose } from "./stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterGetDesiredSize,
  writableStreamDefaultWriterRelease,
  writableStreamDefaultWriterWrite,
  WriterState,
} from "./writer_state.ts";

const NAME = "WritableStreamDefaultWriter";

replaceGlobal(NAME, NativeWritableStreamDefaultWriter);
const isLazy = makeLockLazily(NAME, () => ({
  native: NativeWritableStreamDefaultWriter,
  makeStream: () => new NativeWritableStream(),
  look: isNativeWritableStreamLocked,
}));

/**
 * Writes to a stream chunk by chunk.
 *
 * @see {@link https://streams.spec.whatwg.org/#default-writer-class}
 * @example Write chunk by chunk
 * ```ts
 * import { WritableStream } from "@millrace/streams/streams";
 *
 * let written = "";
 * const writer = new WritableStream<string>({ write: (chunk) => void (written += chunk) }).getWriter();
 * for (const chunk of ["mill", "race"]) {
 *   await writer.ready; // until the sink has room
 *   void writer.write(chunk);
 * }
 * await writer.close();
 * console.log(written); // millrace
 * ```
 */
export class WritableStreamDefaultWriter<W = unknown> extends globalThis.WritableStreamDefaultWriter<W> {
  readonly #state!: WriterState;

  /**
   * Locks a stream, as `stream.getWriter()` does.
   *
   * @throws {TypeError} if `stream` is no WritableStream of this package, or is locked.
   */
  constructor(stream: WritableStream<W>) {
    const streamState = writableStreamStateOf(stream);
    if (streamState === undefined) {
      return Reflect.construct(NativeWritableStreamDefaultWriter, [stream], new.target) as never;
    }
    checkWritableStreamFree(streamState, "get a writer");
    super(stream as globalThis.WritableStream<W>); // locks the native side
    const state = new WriterState();
    this.#state = state;
    state.isPublic = true;
    if (isAlwaysEager || !isLazy) state.nativeSide = this;
    setUpWritableStreamDefaultWriter(state, streamState);
  }

  /** Fulfils when the stream has closed; rejects when it errors or the writer is released. */
  override get closed(): Promise<void> {
    return isObject(this) && #state in this ? this.#state.closed.promise : super.closed;
  }

  /**
   * The free room below the high-water mark, in units of the strategy; `null` once the stream has errored.
   *
   * @throws {TypeError} if the writer was released.
   */
  override get desiredSize(): number | null {
    if (!isObject(this) || !(#state in this)) return super.desiredSize;
    if (this.#state.stream === undefined) throw releasedError("tell the desired size", "writer");
    return writableStreamDefaultWriterGetDesiredSize(this.#state);
  }

  /** Fulfils when there is room below the high-water mark; rejects when the stream errors or the writer is released. */
  override get ready(): Promise<void> {
    return isObject(this) && #state in this ? this.#state.ready.promise : super.ready;
  }

  /**
   * Errors the stream at once; queued chunks are dropped. Settles when the sink has released its resources; rejects
   * with a TypeError if the writer was released.
   */
  override abort(reason: unknown = undefined): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.abort(reason);
    const { stream } = this.#state;
    if (stream === undefined) return promiseRejectedWith(releasedError("abort", "writer"));
    return writableStreamAbort(stream, reason);
  }

  /**
   * Closes the stream when all chunks are written; settles when the sink has closed. Rejects with a TypeError if the
   * stream is closed or closing, or the writer was released.
   */
  override close(): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.close();
    const { stream } = this.#state;
    if (stream === undefined) return promiseRejectedWith(releasedError("close", "writer"));
    return writableStreamClose(stream);
  }

  /** Releases the lock; pending writes continue. */
  override releaseLock(): void {
    if (!isObject(this) || !(#state in this)) return super.releaseLock();
    const state = this.#state;
    if (state.stream === undefined) return;
    writableStreamDefaultWriterRelease(state);
    if (isAlwaysEager || !isLazy) super.releaseLock();
  }

  /**
   * Writes a chunk; settles when the sink has taken the chunk or failed to. Rejects with the stream's error if the
   * stream has errored, and with a TypeError if it is closed or closing, or the writer was released.
   */
  override write(chunk: W = undefined as W): Promise<void> {
    if (!isObject(this) || !(#state in this)) return super.write(chunk);
    if (this.#state.stream === undefined) return promiseRejectedWith(releasedError("write", "writer"));
    return writableStreamDefaultWriterWrite(this.#state, chunk);
  }

  static {
    findStates(NAME, (lock) => #state in lock ? lock.#state : undefined);
  }
}
restoreGlobal();
defineInterface(WritableStreamDefaultWriter, NAME);
