import { endedError, releasedError } from "../language/errors.ts";
import { isTunedToBun } from "#streams/host";
import { NativeWritableStreamDefaultWriter, nativeWriter } from "../language/native_classes.ts";
import {
  Deferred,
  inAMicrotask,
  isThenableLike,
  LazyPromise,
  markAsHandled,
  PENDING,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  settle,
} from "../language/promises.ts";
import { lockSide, type LockState, releaseSide } from "../native/native_locks.ts";
import {
  callWrite,
  isIdle,
  updateBackpressure,
  writableStreamDefaultControllerGetChunkSize,
  writableStreamDefaultControllerWrite,
} from "./controller_state.ts";
import {
  isClosingOrClosed,
  writableStreamAddWriteRequest,
  writableStreamClose,
  type WritableStreamState,
  type WriteRequest,
} from "./stream_state.ts";

/** The {@link https://streams.spec.whatwg.org/#default-writer-class internal slots} of a default writer. */
export class WriterState implements LockState {
  stream: WritableStreamState | undefined;
  readonly closed: LazyPromise = new LazyPromise();
  readonly ready: LazyPromise = new LazyPromise();
  /** Whether user code has the writer, so that the runtime may write through it. */
  isPublic = false;
  nativeSide: LockState["nativeSide"];

  lockNative(side: object): LockState["nativeSide"] {
    return new NativeWritableStreamDefaultWriter(side as never);
  }

  /** Called when the queue reaches its high-water mark. */
  becameFull(): void {
    this.ready.renew();
  }

  /** Called when the queue has room again, or the stream closes and the queue's size no longer matters. */
  becameReady(): void {
    this.ready.resolve();
  }

  startedErroring(reason: unknown): void {
    this.ready.reject(reason);
  }

  streamErrored(error: unknown): void {
    if (this.closed.isPending) this.closed.reject(error); // a writer made after the error is rejected already
  }

  streamClosed(): void {
    this.closed.resolve();
  }

  /** Detaches the promises from the stream, as the writer was released. */
  released(): void {
    const error = releasedError("watch the stream", "writer");
    this.ready.reject(error);
    this.closed.reject(error);
  }
}

/** The request behind the promise that `write()` returns. */
class PromiseWriteRequest extends Deferred<void> implements WriteRequest {
  readonly settlesAtOnce = false;
}

/** The request of a write in flight whose promise settles without it. */
const SETTLES_BY_ITSELF: WriteRequest = { settlesAtOnce: false, resolve() {}, reject() {} };

/** @see {@link https://streams.spec.whatwg.org/#set-up-writable-stream-default-writer} */
export function setUpWritableStreamDefaultWriter(writer: WriterState, stream: WritableStreamState): void {
  writer.stream = stream;
  stream.writer = writer;
  lockSide(writer);
  const { state, storedError } = stream;
  if (state === "erroring" || state === "errored") writer.ready.reject(storedError);
  else if (!stream.backpressure || isClosingOrClosed(stream)) writer.ready.resolve();
  if (state === "errored") writer.closed.reject(storedError);
  else if (state === "closed") writer.closed.resolve();
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-writer-write} */
export function writableStreamDefaultWriterWrite(writer: WriterState, chunk: unknown): Promise<void> {
  const stream = writer.stream!;
  const { controller } = stream;
  const chunkSize = controller.sizeAlgorithm === undefined
    ? 1
    : writableStreamDefaultControllerGetChunkSize(controller, chunk);
  // The size function may have released the writer.
  if (stream !== writer.stream) return promiseRejectedWith(releasedError("write", "writer"));
  const { state, storedError } = stream;
  if (state !== "errored" && isClosingOrClosed(stream)) return promiseRejectedWith(endedError("write", state));
  if (state !== "writable") return promiseRejectedWith(storedError);
  if (controller.batching) return controller.batching.enqueue(chunk, chunkSize);
  if (isIdle(controller) && chunkSize === 1) return writeAtOnce(stream, chunk);
  const request = new PromiseWriteRequest();
  writableStreamAddWriteRequest(stream, request);
  writableStreamDefaultControllerWrite(controller, chunk, chunkSize);
  return request.promise;
}

/**
 * Runs WritableStreamDefaultControllerWrite past the queue of an idle sink. If the sink returns no promise, the write's
 * promise is a reaction to a resolved promise; the reaction that ends the write follows it.
 */
function writeAtOnce(stream: WritableStreamState, chunk: unknown): Promise<void> {
  const { controller } = stream;
  controller.queue.pass(1);
  updateBackpressure(controller);
  stream.inFlightWriteRequest = SETTLES_BY_ITSELF;
  const result = callWrite(controller, chunk);
  if (result !== PENDING && !isThenableLike(result)) {
    const written = inAMicrotask();
    queueReaction(controller.onWrittenAtOnce);
    return written;
  }
  const request = new PromiseWriteRequest();
  stream.inFlightWriteRequest = request;
  if (result !== PENDING) settle(result, controller.onWritten, controller.onWriteFailed);
  return request.promise;
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-writer-close-with-error-propagation} */
export function writableStreamDefaultWriterCloseWithErrorPropagation(writer: WriterState): Promise<void> {
  const stream = writer.stream!;
  if (isClosingOrClosed(stream)) return promiseResolvedWith<void>(undefined);
  return stream.state === "errored" ? promiseRejectedWith(stream.storedError) : writableStreamClose(stream);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-writer-get-desired-size} */
export function writableStreamDefaultWriterGetDesiredSize(writer: WriterState): number | null {
  const stream = writer.stream!;
  if (stream.state === "errored" || stream.state === "erroring") return null;
  const { queue, highWaterMark } = stream.controller;
  return stream.state === "closed" ? 0 : highWaterMark - queue.totalSize;
}

/**
 * Releases the writer, unless it was released before. @see {@link
 * https://streams.spec.whatwg.org/#writable-stream-default-writer-release}
 */
export function writableStreamDefaultWriterRelease(writer: WriterState): void {
  const { stream } = writer;
  if (stream === undefined) return;
  writer.released();
  stream.writer = undefined;
  writer.stream = undefined;
  const { nativeSide } = writer;
  // So that native pipes refuse the stream. On Bun, the lock of a pipe stays, and refuses them.
  if (nativeSide && !(isTunedToBun && !writer.isPublic) && isClosingOrClosed(stream)) {
    markAsHandled(nativeWriter.close.call(nativeSide as WritableStreamDefaultWriter));
  }
  releaseSide(writer, stream, stream.state === "closed");
}
