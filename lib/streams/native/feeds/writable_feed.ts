import { inheritNothing, isNativeWritableStreamLocked } from "../../language/native_classes.ts";
import { endedError, lockedError } from "../../language/errors.ts";
import { LazyPromise, markAsHandled } from "../../language/promises.ts";
import { Ring } from "../../queuing/chunk_queue.ts";
import { writableStreamDefaultControllerGetChunkSize } from "../../writable/controller_state.ts";
import { writableStreamPipeWriteSized } from "../../writable/pipe_write.ts";
import {
  type NativeProducer,
  writableStreamAbort,
  writableStreamClose,
  writableStreamCloseQueuedOrInFlight,
  type WritableStreamState,
  type WriteRequest,
} from "../../writable/stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterRelease,
  WriterState,
} from "../../writable/writer_state.ts";
import { releaseIdleLock } from "../native_locks.ts";

const { addEventListener } = EventTarget.prototype;

/** The request behind a native producer's write. */
class NativeWrite extends LazyPromise implements WriteRequest {
  readonly settlesAtOnce = true;
}

/** The sink of a writable stream's native side: writes with the writer that locks both sides, or with its own. */
export class NativeWritableSink implements UnderlyingSink<unknown>, NativeProducer {
  readonly stream: WritableStreamState;
  #controller: globalThis.WritableStreamDefaultController | undefined;
  /** The abort of the stream, if it began with that of the native side. */
  #aborted: Promise<void> | undefined;
  /** The writes in the native side's queue. The first call of each puts its chunk into this stream's queue. */
  #held: Ring<() => Promise<void>> | undefined;

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

  /** The stream's strategy for the native side, whose `size()` also tells each chunk before that side queues it. */
  strategy(): { readonly highWaterMark: number; readonly size: QueuingStrategySize } {
    const { stream } = this;
    const { controller } = stream;
    return {
      highWaterMark: controller.highWaterMark,
      size: (chunk) => {
        const size = writableStreamDefaultControllerGetChunkSize(controller, chunk);
        let request: NativeWrite | undefined;
        const write = (): Promise<void> => {
          if (!request) {
            this.#lock();
            request = new NativeWrite();
            if (stream.state === "closed" || writableStreamCloseQueuedOrInFlight(stream)) {
              request.reject(endedError("write", stream.state));
            } else writableStreamPipeWriteSized(stream, chunk, size, request);
          }
          return request.promise;
        };
        (this.#held ??= new Ring()).push(write);
        if (controller.batching) write(); // the native side would wait for each chunk of a batch
        return size >= 0 && size < Infinity ? size : 1; // any other fails in its turn
      },
    };
  }

  write(): Promise<void> {
    return this.#held!.shift()();
  }

  queueHeld(): void {
    const held = this.#held!;
    for (let i = 0; i < held?.length; i++) held.at(i)();
  }

  close(): Promise<void> | undefined {
    this.#lock();
    return writableStreamClose(this.stream);
  }

  abort(reason: unknown): Promise<void> {
    this.#lock();
    return this.#aborted ?? writableStreamAbort(this.stream, reason);
  }

  startedErroring(reason: unknown): void {
    this.#controller?.error(reason);
  }

  watchAbort(): void {
    const signal = this.#controller!.signal as AbortSignal | undefined; // older browsers have none
    if (signal?.aborted) this.stream.controller.signalAbort(signal.reason);
    else if (signal) addEventListener.call(signal, "abort", () => this.#abortAtOnce());
  }

  abortIfBegun(): void {
    if (this.stream.writer?.nativeSide !== undefined) return; // which no other can abort by
    if ((this.#controller!.signal as AbortSignal | undefined)?.aborted) this.#abortAtOnce();
  }

  /** Aborts the stream before the native side calls `abort()`, which waits for the write in flight. */
  #abortAtOnce(): void {
    const stream = this.stream;
    const { reason } = this.#controller!.signal;
    stream.controller.signalAbort(reason);
    if (stream.state !== "writable") return;
    stream.feed = undefined; // the native side errs by itself
    markAsHandled(this.#aborted = writableStreamAbort(stream, reason));
  }

  #lock(): WriterState {
    const stream = this.stream;
    if (!stream.writer) setUpWritableStreamDefaultWriter(new FeedWriterState(), stream);
    const writer = stream.writer!;
    if (writer.isPublic || writer instanceof FeedWriterState) return writer;
    throw lockedError("write");
  }
}
inheritNothing(NativeWritableSink);

/** The writer by which the native side locks our stream, for as long as a native producer locks the native side. */
export class FeedWriterState extends WriterState {
  override lockNative(): undefined {}
}

/** Releases the feed's lock once the native side is not locked any longer. */
export function releaseWritableFeed(stream: WritableStreamState): void {
  if (stream.writer instanceof FeedWriterState) writableStreamDefaultWriterRelease(stream.writer);
}

type StateOf = (stream: unknown) => WritableStreamState | undefined;

/** The state behind one of our streams; `undefined` for anything else. */
export let writableStreamStateOf: StateOf;

/** Called once, by the WritableStream class. */
export function setWritableStreamStateOf(stateOf: StateOf): void {
  writableStreamStateOf = stateOf;
}

/** IsWritableStreamLocked: by a writer, a pipe or the runtime; the writer that feeds the native side does not count. */
export function isWritableStreamLocked(stream: WritableStreamState): boolean {
  const { idleLock, nativeSide, transferSide, writer } = stream;
  return (writer !== undefined && !(writer instanceof FeedWriterState)) ||
    (nativeSide !== undefined && idleLock === undefined && isNativeWritableStreamLocked(nativeSide)) ||
    (transferSide !== undefined && isNativeWritableStreamLocked(transferSide));
}

/** Makes a stream ready to be locked. @throws {TypeError} if it is locked. */
export function checkWritableStreamFree(stream: WritableStreamState, action: string): void {
  if (isWritableStreamLocked(stream)) throw lockedError(action);
  stream.feed?.queueHeld();
  releaseIdleLock(stream);
  releaseWritableFeed(stream);
}
