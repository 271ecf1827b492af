import { endedError } from "../language/errors.ts";
import { Deferred, type EndedPromise, promiseRejectedWith, promiseResolvedWith, settle } from "../language/promises.ts";
import type { NativeLock } from "../native/native_locks.ts";
import { Ring } from "../queuing/chunk_queue.ts";
import type { WritableControllerState } from "./controller_state.ts";
import type { WriterState } from "./writer_state.ts";

/** A request that settles once a chunk is written: the promise of a `write()`, or a pipe. */
export interface WriteRequest {
  /** Whether no user code sees the request settle: a write that returns no promise then finishes at once. */
  readonly settlesAtOnce: boolean;
  resolve(): void;
  reject(reason: unknown): void;
}

/** The request of a write whose failure only errors the stream: one in flight, or a pipe's, without a promise. */
export const UNWATCHED_WRITE: WriteRequest = { settlesAtOnce: true, resolve() {}, reject() {} };

/** The producer on the native side of a stream, as the stream uses it. */
export interface NativeProducer {
  startedErroring(reason: unknown): void;
  /** Connects the native side's abort to the stream's signal, which user code has read. */
  watchAbort(): void;
  /** Begins the stream's abort if the native side's abort has begun, before a write fails or the sink is called again. */
  abortIfBegun(): void;
}

interface PendingAbortRequest {
  readonly deferred: Deferred<void>;
  readonly reason: unknown;
  readonly wasAlreadyErroring: boolean;
}

/** The internal slots of a WritableStream. @see {@link https://streams.spec.whatwg.org/#ws-internal-slots} */
export class WritableStreamState {
  state: "writable" | "erroring" | "errored" | "closed" = "writable";
  backpressure = false;
  inFlightWriteRequest: WriteRequest | undefined;
  closeRequest: Deferred<void> | undefined;
  inFlightCloseRequest: Deferred<void> | undefined;
  pendingAbortRequest: PendingAbortRequest | undefined;
  storedError: unknown;
  writer: WriterState | undefined;
  controller!: WritableControllerState; // assigned by every set-up
  /** The queue of requests; created for the first write that has to wait. */
  writeRequests: Ring<WriteRequest> | undefined;
  /** The public object, once there is one. */
  shell: object | undefined;
  /** The stream as the runtime handles it: the stream itself, or an object created when the runtime first needs it. */
  nativeSide: object | undefined;
  idleLock: NativeLock | undefined;
  transferSide: object | undefined;
  /** The feed of the stream from its native side; set by the first write to that side. */
  feed: NativeProducer | undefined;
  /** A promise that settles as the stream ends; undefined until a function of Node reads it. */
  ended: EndedPromise | undefined;
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-add-write-request} */
export function writableStreamAddWriteRequest(stream: WritableStreamState, request: WriteRequest): void {
  (stream.writeRequests ??= new Ring()).push(request);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-abort} */
export function writableStreamAbort(stream: WritableStreamState, reason: unknown): Promise<void> {
  if (stream.state === "closed" || stream.state === "errored") return promiseResolvedWith<void>(undefined);
  stream.controller.signalAbort(reason);
  const state = stream.state as WritableStreamState["state"]; // the signal's listeners may have changed it
  if (state === "closed" || state === "errored") return promiseResolvedWith<void>(undefined);
  if (stream.pendingAbortRequest) return stream.pendingAbortRequest.deferred.promise;
  const wasAlreadyErroring = state === "erroring";
  const deferred = new Deferred<void>();
  stream.pendingAbortRequest = { deferred, reason: wasAlreadyErroring ? undefined : reason, wasAlreadyErroring };
  if (!wasAlreadyErroring) writableStreamStartErroring(stream, reason);
  return deferred.promise;
}

/** Includes the check of its callers. @see {@link https://streams.spec.whatwg.org/#writable-stream-close} */
export function writableStreamClose(stream: WritableStreamState): Promise<void> {
  if (stream.state === "errored" || isClosingOrClosed(stream)) {
    return promiseRejectedWith(endedError("close", stream.state));
  }
  const closeRequest = new Deferred<void>();
  stream.closeRequest = closeRequest;
  if (stream.writer && stream.backpressure && stream.state === "writable") stream.writer.becameReady();
  stream.controller.closeWhenWritten();
  return closeRequest.promise;
}

/**
 * Whether a stream has closed or is going to. @see {@link
 * https://streams.spec.whatwg.org/#writable-stream-close-queued-or-in-flight}
 */
export function isClosingOrClosed(stream: WritableStreamState): boolean {
  return stream.state === "closed" || stream.closeRequest !== undefined || stream.inFlightCloseRequest !== undefined;
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-update-backpressure} */
export function writableStreamUpdateBackpressure(stream: WritableStreamState, backpressure: boolean): void {
  if (backpressure === stream.backpressure) return;
  const { writer } = stream;
  stream.backpressure = backpressure;
  if (!writer) return;
  if (backpressure) writer.becameFull();
  else writer.becameReady();
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-deal-with-rejection} */
export function writableStreamDealWithRejection(stream: WritableStreamState, error: unknown): void {
  if (stream.state === "writable") writableStreamStartErroring(stream, error);
  else writableStreamFinishErroring(stream);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-start-erroring} */
export function writableStreamStartErroring(stream: WritableStreamState, reason: unknown): void {
  stream.state = "erroring";
  stream.storedError = reason;
  stream.writer?.startedErroring(reason);
  stream.feed?.startedErroring(reason);
  const isInFlight = stream.inFlightWriteRequest !== undefined || stream.inFlightCloseRequest !== undefined;
  if (!isInFlight && stream.controller.started) writableStreamFinishErroring(stream);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-finish-erroring} */
export function writableStreamFinishErroring(stream: WritableStreamState): void {
  stream.state = "errored";
  stream.controller.errorSteps();
  const { storedError, writeRequests } = stream;
  while (writeRequests?.length) writeRequests.shift().reject(storedError);
  const abort = stream.pendingAbortRequest;
  stream.pendingAbortRequest = undefined;
  if (!abort) {
    rejectCloseAndClosedPromiseIfNeeded(stream);
  } else if (abort.wasAlreadyErroring) {
    abort.deferred.reject(storedError);
    rejectCloseAndClosedPromiseIfNeeded(stream);
  } else {
    settle(stream.controller.abortSteps(abort.reason), () => {
      abort.deferred.resolve();
      rejectCloseAndClosedPromiseIfNeeded(stream);
    }, (error) => {
      abort.deferred.reject(error);
      rejectCloseAndClosedPromiseIfNeeded(stream);
    });
  }
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-reject-close-and-closed-promise-if-needed} */
function rejectCloseAndClosedPromiseIfNeeded(stream: WritableStreamState): void {
  const { closeRequest, storedError } = stream;
  stream.closeRequest = undefined;
  closeRequest?.reject(storedError);
  stream.writer?.streamErrored(storedError);
  stream.ended?.reject(storedError);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-finish-in-flight-write-with-error} */
export function writableStreamFinishInFlightWriteWithError(stream: WritableStreamState, error: unknown): void {
  const request = stream.inFlightWriteRequest!;
  stream.inFlightWriteRequest = undefined;
  request.reject(error);
  writableStreamDealWithRejection(stream, error);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-finish-in-flight-close} */
export function writableStreamFinishInFlightClose(stream: WritableStreamState): void {
  stream.inFlightCloseRequest!.resolve();
  stream.inFlightCloseRequest = undefined;
  if (stream.state === "erroring") {
    stream.storedError = undefined;
    stream.pendingAbortRequest?.deferred.resolve();
    stream.pendingAbortRequest = undefined;
  }
  stream.state = "closed";
  stream.writer?.streamClosed();
  stream.ended?.resolve();
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-finish-in-flight-close-with-error} */
export function writableStreamFinishInFlightCloseWithError(stream: WritableStreamState, error: unknown): void {
  stream.inFlightCloseRequest!.reject(error);
  stream.inFlightCloseRequest = undefined;
  stream.pendingAbortRequest?.deferred.reject(error);
  stream.pendingAbortRequest = undefined;
  writableStreamDealWithRejection(stream, error);
}
