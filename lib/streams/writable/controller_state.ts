import {
  attempt,
  isThenableLike,
  newPromiseResolvedWith,
  NO_ALGORITHMS,
  PENDING,
  promiseRejectedWith,
  react,
  settle,
} from "../language/promises.ts";
import { checkedSize, ChunkQueue, type SizeAlgorithm } from "../queuing/chunk_queue.ts";
import { queueResume } from "../readable/controller_state.ts";
import { deferTasks, runTasks, type Task } from "../shortcuts/task.ts";
import type { Batching } from "./batches/batch.ts";
import {
  isClosingOrClosed,
  writableStreamDealWithRejection,
  writableStreamFinishErroring,
  writableStreamFinishInFlightClose,
  writableStreamFinishInFlightCloseWithError,
  writableStreamFinishInFlightWriteWithError,
  writableStreamStartErroring,
  WritableStreamState,
  writableStreamUpdateBackpressure,
} from "./stream_state.ts";

/** The algorithms of a writable stream: a user's underlying sink, or an internal one. Each may throw. */
export interface SinkAlgorithms {
  /** Returns a promise; or any other value if it is done; or PENDING, see `pipe_write.ts`. The request is in flight. */
  write(chunk: unknown): unknown;
  close(): unknown;
  abort(reason: unknown): unknown;
  /** Called with the pipe that writes to the stream, and with undefined at its end. */
  pipedTo?(pipe: Task | undefined): void;
}

/**
 * The internal slots of a controller. The close sentinel of its queue is `stream.closeRequest`.
 * @see {@link https://streams.spec.whatwg.org/#ws-default-controller-internal-slots}
 */
export class WritableControllerState {
  readonly stream: WritableStreamState;
  sink: SinkAlgorithms;
  readonly queue: ChunkQueue = new ChunkQueue();
  readonly highWaterMark: number;
  sizeAlgorithm: SizeAlgorithm;
  started = false;
  /** The queue of batches, which replaces that of chunks if the sink takes batches. */
  batching: Batching | undefined;
  #abortController: AbortController | undefined;
  #abortReason: { readonly reason: unknown } | undefined;
  /** The reaction to each write; bound once for each stream. */
  #onWritten: (() => void) | undefined = undefined;
  #onWrittenAtOnce: (() => void) | undefined = undefined;
  #onWriteFailed: ((error: unknown) => void) | undefined = undefined;

  constructor(stream: WritableStreamState, sink: SinkAlgorithms, highWaterMark: number, sizeAlgorithm: SizeAlgorithm) {
    this.stream = stream;
    this.sink = sink;
    this.highWaterMark = highWaterMark;
    this.sizeAlgorithm = sizeAlgorithm;
  }

  /** Ends `start()` or a write, and continues with the next write. */
  resume(): void {
    const { started } = this;
    this.started = true;
    if (!started && !this.#canGoOn) return;
    const holds = deferTasks();
    try {
      if (started) finishWrite(this);
      writableStreamDefaultControllerAdvanceQueueIfNeeded(this);
    } finally {
      if (holds) runTasks();
    }
  }

  get onWritten(): () => void {
    return this.#onWritten ??= () => this.resume();
  }

  /** The reaction to a write whose own promise has settled already, and is not settled here. */
  get onWrittenAtOnce(): () => void {
    return this.#onWrittenAtOnce ??= () => {
      const { stream, queue } = this;
      stream.inFlightWriteRequest = undefined;
      queue.release();
      updateBackpressure(this);
      if (this.#canGoOn) writableStreamDefaultControllerAdvanceQueueIfNeeded(this);
    };
  }

  /** Whether a step is due once no request is in flight. */
  get #canGoOn(): boolean {
    const { stream, queue } = this;
    return queue.length > 0 || stream.state !== "writable" || stream.closeRequest !== undefined;
  }

  get onWriteFailed(): (error: unknown) => void {
    return this.#onWriteFailed ??= (error) => {
      this.stream.feed?.abortIfBegun();
      if (this.stream.state === "writable") this.clearAlgorithms();
      writableStreamFinishInFlightWriteWithError(this.stream, error);
    };
  }

  /** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-clear-algorithms} */
  clearAlgorithms(): void {
    this.sink = NO_ALGORITHMS;
    this.sizeAlgorithm = undefined;
    this.batching?.end();
    this.batching = undefined;
  }

  /** The signal that `abort()` aborts, made by the first call. */
  get signal(): AbortSignal {
    if (this.#abortController === undefined) {
      this.#abortController = new AbortController();
      if (this.#abortReason !== undefined) this.#abortController.abort(this.#abortReason.reason);
      else this.stream.feed?.watchAbort();
    }
    return this.#abortController.signal;
  }

  get hasSignal(): boolean {
    return this.#abortController !== undefined;
  }

  signalAbort(reason: unknown): void {
    this.#abortReason ??= { reason };
    this.#abortController?.abort(reason);
  }

  /** @see {@link https://streams.spec.whatwg.org/#ws-default-controller-private-abort} */
  abortSteps(reason: unknown): unknown {
    const result = attempt(() => this.sink.abort(reason));
    this.clearAlgorithms();
    return result;
  }

  /** @see {@link https://streams.spec.whatwg.org/#ws-default-controller-error} */
  error(error: unknown): void {
    writableStreamDefaultControllerErrorIfNeeded(this, error);
  }

  /** @see {@link https://streams.spec.whatwg.org/#ws-default-controller-private-error} */
  errorSteps(): void {
    this.queue.reset();
  }

  /** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-close} */
  closeWhenWritten(): void {
    writableStreamDefaultControllerAdvanceQueueIfNeeded(this);
  }
}

/** Notifies the writer whether the queue has room, unless the stream is ending. */
export function updateBackpressure(controller: WritableControllerState): void {
  const { stream } = controller;
  if (stream.state !== "writable" || isClosingOrClosed(stream)) return;
  // WritableStreamDefaultControllerGetBackpressure
  writableStreamUpdateBackpressure(stream, controller.highWaterMark - controller.queue.totalSize <= 0);
}

/** Whether a chunk written now is passed to the sink at once. */
export function isIdle(controller: WritableControllerState): boolean {
  return controller.started && !controller.stream.inFlightWriteRequest && controller.queue.length === 0 &&
    controller.batching === undefined;
}

/**
 * Returns the size of a chunk; if the strategy throws, the stream errors. Sizes that EnqueueValueWithSize forbids are
 * refused by {@linkcode writableStreamDefaultControllerWrite}.
 *
 * @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-get-chunk-size}
 */
export function writableStreamDefaultControllerGetChunkSize(
  controller: WritableControllerState,
  chunk: unknown,
): number {
  if (!controller.sizeAlgorithm) return 1;
  try {
    return +(controller.sizeAlgorithm.call(undefined, chunk) as number);
  } catch (error) {
    writableStreamDefaultControllerErrorIfNeeded(controller, error);
    return 1;
  }
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-write} */
export function writableStreamDefaultControllerWrite(
  controller: WritableControllerState,
  chunk: unknown,
  chunkSize: number,
): void {
  try {
    controller.queue.enqueue(chunk, chunkSize === 1 ? 1 : checkedSize(chunkSize));
  } catch (error) {
    writableStreamDefaultControllerErrorIfNeeded(controller, error);
    return;
  }
  updateBackpressure(controller);
  writableStreamDefaultControllerAdvanceQueueIfNeeded(controller);
}

/** Calls the sink's write; an exception becomes a rejection. */
export function callWrite(controller: WritableControllerState, chunk: unknown): unknown {
  try {
    return controller.sink.write(chunk);
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-advance-queue-if-needed} */
export function writableStreamDefaultControllerAdvanceQueueIfNeeded(controller: WritableControllerState): void {
  const { stream } = controller;
  if (!controller.started) return;
  while (!stream.inFlightWriteRequest) {
    if (controller.queue.length > 0 || stream.closeRequest) stream.feed?.abortIfBegun();
    if (stream.state === "erroring") {
      // The close in flight finishes the erroring itself.
      if (!stream.inFlightCloseRequest) writableStreamFinishErroring(stream);
      return;
    }
    if (controller.queue.length === 0) {
      if (stream.closeRequest && stream.state === "writable") processClose(controller);
      return;
    }
    if (controller.batching && !controller.batching.isDue()) return;
    if (!processWrite(controller, controller.queue.take())) return;
  }
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-process-close} */
function processClose(controller: WritableControllerState): void {
  const { stream } = controller;
  stream.inFlightCloseRequest = stream.closeRequest;
  stream.closeRequest = undefined;
  const result = attempt(() => controller.sink.close());
  controller.clearAlgorithms();
  settle(
    result,
    () => writableStreamFinishInFlightClose(stream),
    (error) => writableStreamFinishInFlightCloseWithError(stream, error),
  );
}

/**
 * @returns whether the write is finished. @see {@link
 * https://streams.spec.whatwg.org/#writable-stream-default-controller-process-write}
 */
function processWrite(controller: WritableControllerState, chunk: unknown): boolean {
  const { stream } = controller;
  const request = stream.writeRequests!.shift();
  stream.inFlightWriteRequest = request;
  const result = callWrite(controller, chunk);
  if (result === PENDING) return false;
  if (request.settlesAtOnce && !isThenableLike(result) && stream.state === "writable") {
    finishWrite(controller);
    return true;
  }
  settle(result, controller.onWritten, controller.onWriteFailed);
  return false;
}

/** Finishes a successful write without starting another; includes WritableStreamFinishInFlightWrite. */
export function finishWrite(controller: WritableControllerState): void {
  const { stream, queue } = controller;
  const request = stream.inFlightWriteRequest!;
  stream.inFlightWriteRequest = undefined;
  request.resolve();
  queue.release();
  updateBackpressure(controller);
}

/** @see {@link https://streams.spec.whatwg.org/#writable-stream-default-controller-error-if-needed} */
export function writableStreamDefaultControllerErrorIfNeeded(
  controller: WritableControllerState,
  error: unknown,
): void {
  if (controller.stream.state !== "writable") return;
  controller.clearAlgorithms();
  writableStreamStartErroring(controller.stream, error);
}

/** Runs the last step of a set-up: writes begin once `start()` has settled. */
export function startWritableStreamDefaultController(controller: WritableControllerState, startResult: unknown): void {
  if (isThenableLike(startResult)) {
    react(
      newPromiseResolvedWith(startResult),
      controller.onWritten,
      (error) => writableStreamDefaultControllerStartFailed(controller, error),
    );
  } else {
    queueResume(controller);
  }
}

/** Starts or finishes erroring the stream after a start that failed. */
export function writableStreamDefaultControllerStartFailed(controller: WritableControllerState, error: unknown): void {
  controller.started = true;
  writableStreamDealWithRejection(controller.stream, error);
}

/** The standard's CreateWritableStream without the call of `start()`, which the caller makes. */
export function createWritableStream(
  sink: SinkAlgorithms,
  highWaterMark: number,
  sizeAlgorithm: SizeAlgorithm,
): WritableStreamState {
  const stream = new WritableStreamState();
  stream.controller = new WritableControllerState(stream, sink, highWaterMark, sizeAlgorithm);
  stream.backpressure = highWaterMark <= 0;
  return stream;
}
