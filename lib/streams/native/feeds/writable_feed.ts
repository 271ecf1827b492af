import { inheritNothing, isNativeWritableStreamLocked } from "../../language/native_classes.ts";
import { lockedError } from "../../language/errors.ts";
import { Deferred, LazyPromise, markAsHandled, react } from "../../language/promises.ts";
import { writableStreamPipeWrite } from "../../writable/pipe_write.ts";
import {
  isClosingOrClosed,
  type NativeProducer,
  writableStreamAbort,
  writableStreamClose,
  type WritableStreamState,
  type WriteRequest,
} from "../../writable/stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterRelease,
  writableStreamDefaultWriterWrite,
  WriterState,
} from "../../writable/writer_state.ts";
import { releaseIdleLock } from "../native_locks.ts";

const { addEventListener } = EventTarget.prototype;

/** The sink of a writable stream's native side: writes with the writer that locks both sides, or with a private one. */
export class NativeWritableSink implements UnderlyingSink<unknown>, NativeProducer, WriteRequest {
  readonly settlesAtOnce = true;
  readonly stream: WritableStreamState;
  #controller: globalThis.WritableStreamDefaultController | undefined;
  /** The promise of the stream's abort, if the native side's abort has begun it. */
  #aborted: Promise<void> | undefined;
  /** The number of chunks that wait in the native side behind the last one it wrote. */
  #held = 0;
  /** The number of unfinished writes. */
  #pending = 0;
  /** The promise of the last write, until all have finished or another chunk arrives. */
  #last: Deferred<void> | undefined;

  constructor(stream: WritableStreamState) {
    this.stream = stream;
  }

  /** Passes the stream's errors on to the native controller from now on, even before the first write. */
  start(controller: globalThis.WritableStreamDefaultController): void {
    this.#controller = controller;
    this.stream.feed = this;
    const { state, storedError } = this.stream;
    if (state === "erroring" || state === "errored") controller.error(storedError);
    if (this.stream.controller.hasSignal) this.watchAbort();
  }

  /**
   * Returns the strategy of the native side. If the stream takes many chunks, a write is awaited only if no other chunk
   * follows, which `size()` shows. The last write is always awaited: a native pipe that leaves the stream open ends
   * with it.
   */
  strategy(highWaterMark: number): QueuingStrategy | undefined {
    const { highWaterMark: own, sizeAlgorithm } = this.stream.controller;
    if (own === 0) return { highWaterMark: 0 };
    return own <= 1 && !sizeAlgorithm ? undefined : { highWaterMark, size: () => this.#chunkCame() };
  }

  #chunkCame(): number {
    const last = this.#last;
    const room = last && this.#room();
    if (room === undefined) last?.resolve();
    else react(room, last!.resolve, last!.reject);
    this.#held++;
    return 1;
  }

  /** Returns a promise that resolves once the stream has room for a chunk; undefined if it has room. */
  #room(): Promise<void> | undefined {
    const { state, writer } = this.stream;
    const isFull = this.#pending > 0 && writer?.ready.isPending;
    return isFull || state !== "writable" ? writer?.ready.promise : undefined;
  }

  write(chunk: unknown): Promise<void> | undefined {
    const writer = this.#lock();
    const { stream } = this;
    // Fails.
    if (stream.state !== "writable" || isClosingOrClosed(stream)) {
      return writableStreamDefaultWriterWrite(writer, chunk);
    }
    this.#held--;
    this.#pending++;
    writableStreamPipeWrite(stream, chunk, this);
    return this.#pending > 0 && this.#held <= 0 ? (this.#last = new Deferred()).promise : this.#room();
  }

  resolve(): void {
    if (--this.#pending > 0) return;
    this.#last?.resolve();
    this.#last = undefined;
  }

  reject(reason: unknown): void {
    this.#pending--;
    this.#last?.reject(reason);
  }

  close(): Promise<void> | undefined {
    const { stream } = this;
    if (stream.state === "closed") return undefined;
    // The stream closes its native side. The public promise would count as handled.
    if (isClosingOrClosed(stream)) return (stream.ended ??= new LazyPromise()).promise;
    this.#lock();
    return writableStreamClose(stream);
  }

  abort(reason: unknown): Promise<void> {
    this.#lock();
    return this.#aborted ?? writableStreamAbort(this.stream, reason);
  }

  startedErroring(reason: unknown): void {
    this.#controller?.error(reason);
  }

  watchAbort(): void {
    const signal = this.#controller!.signal as AbortSignal | undefined; // older browsers have no signal
    if (signal?.aborted) this.stream.controller.signalAbort(signal.reason);
    else if (signal) addEventListener.call(signal, "abort", () => this.#abortAtOnce());
  }

  abortIfBegun(): void {
    if (this.stream.writer?.nativeSide !== undefined) return; // the lock's owner alone can abort
    if ((this.#controller!.signal as AbortSignal | undefined)?.aborted) this.#abortAtOnce();
  }

  /** Aborts the stream before the native side calls `abort()`, which waits for the write in flight. */
  #abortAtOnce(): void {
    const { stream } = this;
    const { reason } = this.#controller!.signal;
    stream.controller.signalAbort(reason);
    if (stream.state !== "writable") return;
    stream.feed = undefined; // the native side errors without it
    markAsHandled(this.#aborted = writableStreamAbort(stream, reason));
  }

  #lock(): WriterState {
    const { stream } = this;
    if (!stream.writer) setUpWritableStreamDefaultWriter(new FeedWriterState(), stream);
    const { writer } = stream as { writer: WriterState };
    if (writer.isPublic || writer instanceof FeedWriterState) return writer;
    throw lockedError("write");
  }
}
inheritNothing(NativeWritableSink);

/** The writer through which the native side locks the stream while a native producer locks the native side. */
export class FeedWriterState extends WriterState {
  override lockNative(): undefined {}
}

/** Releases the feed's lock once the native side is not locked any longer. */
export function releaseWritableFeed(stream: WritableStreamState): void {
  if (stream.writer instanceof FeedWriterState) writableStreamDefaultWriterRelease(stream.writer);
}

type StateOf = (stream: unknown) => WritableStreamState | undefined;

/** Returns the state of a stream of this package; `undefined` for any other value. */
export let writableStreamStateOf: StateOf = (): undefined => {};

/** Called once, by the WritableStream class. */
export function setWritableStreamStateOf(stateOf: StateOf): void {
  writableStreamStateOf = stateOf;
}

/** The standard's IsWritableStreamLocked: by a writer, a pipe or the runtime, but not by the feed of the native side. */
export function isWritableStreamLocked(stream: WritableStreamState): boolean {
  const { idleLock, nativeSide, transferSide, writer } = stream;
  return (writer !== undefined && !(writer instanceof FeedWriterState)) ||
    (nativeSide !== undefined && idleLock === undefined && isNativeWritableStreamLocked(nativeSide)) ||
    (transferSide !== undefined && isNativeWritableStreamLocked(transferSide));
}

/** Makes a stream ready to be locked. @throws {TypeError} if it is locked. */
export function checkWritableStreamFree(stream: WritableStreamState, action: string): void {
  if (isWritableStreamLocked(stream)) throw lockedError(action);
  releaseIdleLock(stream);
  releaseWritableFeed(stream);
}
