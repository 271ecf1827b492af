import { cannot, endedError } from "../errors.ts";
import { PARKED } from "../parked.ts";
import {
  Deferred,
  inAMicrotask,
  isThenableLike,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
  settle,
} from "../promises.ts";
import type { SourceAlgorithms } from "../readable/controller_state.ts";
import type { DefaultControllerState } from "../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { type SinkAlgorithms, writableStreamDefaultControllerErrorIfNeeded } from "../writable/controller_state.ts";
import { writableStreamFinishParkedWrite } from "../writable/pipe_write.ts";
import { writableStreamFinishInFlightWriteWithError, type WritableStreamState } from "../writable/stream_state.ts";

/** The algorithms of a transform stream: a user's transformer, or one of ours. Each may throw. */
export interface TransformerAlgorithms {
  transform(chunk: unknown): unknown;
  flush(): unknown;
  cancel(reason: unknown): unknown;
  /** Whether it keeps nothing of a chunk that it has transformed. */
  readonly releasesChunks?: boolean;
}

/** Takes the place of a transformer that will not be called again, so that it can be collected. */
export const CLEARED_TRANSFORMER: TransformerAlgorithms = { transform() {}, flush() {}, cancel() {} };

/** How a write waits until the readable end wants a chunk. */
const NO_WRITE = 0;
const EXACT_WRITE = 1;
const FUSED_WRITE = 2;

/**
 * The internal slots of a TransformStream and its controller. It is the sink of its writable end, and the source of its
 * readable end.
 *
 * `[[backpressureChangePromise]]` has two users, a pull that waits for backpressure and a write that waits for its end:
 * both are parked here, and go on when the promise's reaction would have run. Between two pipes they go on at once.
 *
 * @see {@link https://streams.spec.whatwg.org/#ts-internal-slots}
 */
export class TransformStreamState implements SinkAlgorithms, SourceAlgorithms {
  backpressure = true;
  readable!: ReadableStreamState; // set by the set-up, as all of these
  writable!: WritableStreamState;
  transformer: TransformerAlgorithms = CLEARED_TRANSFORMER;
  #finishPromise: Promise<void> | undefined;
  #parkedWrite: typeof NO_WRITE | typeof EXACT_WRITE | typeof FUSED_WRITE = NO_WRITE;
  #parkedChunk: unknown;
  #hasParkedPull = false;

  get releasesChunks(): boolean {
    return this.transformer.releasesChunks === true;
  }

  get readableController(): DefaultControllerState {
    return this.readable.controller as DefaultControllerState;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-write-algorithm} */
  write(chunk: unknown): unknown {
    if (!this.backpressure) return this.#performTransform(chunk);
    this.#parkedWrite = EXACT_WRITE;
    this.#parkedChunk = chunk;
    return PARKED;
  }

  pipeWrite(chunk: unknown): unknown {
    if (!this.backpressure) return this.#performFusedTransform(chunk);
    this.#parkedWrite = FUSED_WRITE;
    this.#parkedChunk = chunk;
    return PARKED;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-abort-algorithm} */
  abort(reason: unknown): Promise<void> {
    return this.#finishPromise ?? this.#finish((transformer) => transformer.cancel(reason), (finished) => {
      if (this.readable.state === "errored") return finished.reject(this.readable.storedError);
      this.readableController.error(reason);
      finished.resolve();
    }, (error) => this.readableController.error(error));
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-close-algorithm} */
  close(): Promise<void> {
    return this.#finishPromise ?? this.#finish((transformer) => transformer.flush(), (finished) => {
      if (this.readable.state === "errored") return finished.reject(this.readable.storedError);
      this.readableController.close();
      finished.resolve();
    }, (error) => this.readableController.error(error));
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-source-cancel} */
  cancel(reason: unknown): Promise<void> {
    return this.#finishPromise ?? this.#finish((transformer) => transformer.cancel(reason), (finished) => {
      if (this.writable.state === "errored") return finished.reject(this.writable.storedError);
      writableStreamDefaultControllerErrorIfNeeded(this.writable.controller, reason);
      this.#unblockWrite();
      finished.resolve();
    }, (error) => {
      writableStreamDefaultControllerErrorIfNeeded(this.writable.controller, error);
      this.#unblockWrite();
    });
  }

  /** What the three have in common: the transformer is called a last time, and [[finishPromise]] tells how it went. */
  #finish(
    call: (transformer: TransformerAlgorithms) => unknown,
    onFulfilled: (finished: Deferred<void>) => void,
    onRejected: (error: unknown) => void,
  ): Promise<void> {
    const finished = new Deferred<void>();
    this.#finishPromise = finished.promise;
    const { transformer } = this;
    let result: unknown;
    try {
      result = call(transformer);
    } catch (error) {
      result = promiseRejectedWith(error);
    }
    this.transformer = CLEARED_TRANSFORMER;
    settle(result, () => onFulfilled(finished), (error) => {
      onRejected(error);
      finished.reject(error);
    });
    return finished.promise;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-source-pull-algorithm} */
  pull(): unknown {
    this.#hasParkedPull = true;
    this.#endBackpressure();
    return PARKED;
  }

  /**
   * @throws {TypeError} if the readable end is closed or errored.
   * @throws what the readable strategy's size function throws.
   * @see {@link https://streams.spec.whatwg.org/#transform-stream-default-controller-enqueue}
   */
  enqueue(chunk: unknown): void {
    const { readable } = this;
    const controller = readable.controller as DefaultControllerState;
    if (!controller.canCloseOrEnqueue) throw this.#cannotEnqueue();
    if (controller.sizeAlgorithm === undefined) controller.enqueueWithoutPull(chunk);
    else this.#enqueueWithSize(controller, chunk);
    this.#updateBackpressure(controller);
  }

  /** The last step of enqueueing, and ReadableStreamDefaultControllerHasBackpressure, which ask the same. */
  #updateBackpressure(controller: DefaultControllerState): void {
    if (controller.shouldCallPull()) controller.callPullIfNeeded();
    else if (!this.backpressure) this.#startBackpressure(controller, this.readable.reader);
  }

  /** The same for many chunks, in order: what all of them need is asked once, and the array is kept as it is. */
  enqueueAll(chunks: unknown[]): void {
    const controller = this.readableController;
    const { reader } = this.readable;
    let next = 0;
    // What a reader waits for, and what user code has a say in, goes chunk by chunk.
    while (next < chunks.length && (reader?.requests.length || controller.sizeAlgorithm !== undefined)) {
      this.enqueue(chunks[next++]);
    }
    if (next === chunks.length) return;
    if (!controller.canCloseOrEnqueue) throw this.#cannotEnqueue();
    controller.queue.enqueueAll(chunks, next);
    this.#updateBackpressure(controller);
  }

  #enqueueWithSize(controller: DefaultControllerState, chunk: unknown): void {
    try {
      controller.enqueueWithoutPull(chunk);
    } catch (error) {
      this.errorWritableAndUnblockWrite(error);
      throw this.readable.storedError;
    }
  }

  #cannotEnqueue(): TypeError {
    return endedError("enqueue", this.readable.state);
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-controller-terminate} */
  terminate(): void {
    this.readableController.close();
    this.errorWritableAndUnblockWrite(cannot("write", "the transform stream was terminated"));
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-error} */
  error(error: unknown): void {
    this.readableController.error(error);
    this.errorWritableAndUnblockWrite(error);
  }

  get desiredSize(): number | null {
    return this.readableController.desiredSize;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-error-writable-and-unblock-write} */
  errorWritableAndUnblockWrite(error: unknown): void {
    this.transformer = CLEARED_TRANSFORMER;
    writableStreamDefaultControllerErrorIfNeeded(this.writable.controller, error);
    this.#unblockWrite();
  }

  #unblockWrite(): void {
    if (this.backpressure) this.#endBackpressure();
  }

  /** TransformStreamSetBackpressure(true), when nothing is to be pulled: the pull that waited for it has ended. */
  #startBackpressure(controller: DefaultControllerState, reader: ReadableStreamState["reader"]): void {
    this.backpressure = true;
    if (!this.#hasParkedPull) return;
    this.#hasParkedPull = false;
    if (reader !== undefined && reader.fused) {
      controller.pulling = false;
      controller.pullAgain = false;
    } else {
      queueReaction(controller.onPulled);
    }
  }

  /** TransformStreamSetBackpressure(false): the write that waited for it goes on. */
  #endBackpressure(): void {
    this.backpressure = false;
    if (this.#parkedWrite === FUSED_WRITE) this.#unparkFusedWrite();
    else if (this.#parkedWrite === EXACT_WRITE) this.#unparkExactWrite();
  }

  #unparkExactWrite(): void {
    this.#parkedWrite = NO_WRITE;
    const { controller } = this.writable;
    const written = inAMicrotask(() => {
      const chunk = this.#takeParkedChunk();
      if (this.writable.state === "erroring") throw this.writable.storedError;
      return this.#performTransform(chunk);
    });
    settle(written, controller.onWritten, controller.onWriteFailed);
  }

  #unparkFusedWrite(): void {
    this.#parkedWrite = NO_WRITE;
    const { reader } = this.readable;
    if (reader !== undefined && reader.fused) this.#resumeFusedWrite();
    else if (this.writable.state === "erroring") this.#failFusedWrite();
    else queueReaction(() => this.#resumeFusedWrite());
  }

  #resumeFusedWrite(): void {
    if (this.writable.state === "erroring") {
      this.#failFusedWrite();
      return;
    }
    let result: unknown;
    try {
      result = this.#performFusedTransform(this.#takeParkedChunk());
    } catch (error) {
      result = promiseRejectedWith(error);
    }
    writableStreamFinishParkedWrite(this.writable.controller, result);
  }

  #failFusedWrite(): void {
    this.#takeParkedChunk();
    writableStreamFinishInFlightWriteWithError(this.writable, this.writable.storedError);
  }

  #takeParkedChunk(): unknown {
    const chunk = this.#parkedChunk;
    this.#parkedChunk = undefined;
    return chunk;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-controller-perform-transform} */
  #performTransform(chunk: unknown): Promise<void> {
    let result: Promise<unknown>;
    try {
      result = promiseResolvedWith(this.transformer.transform(chunk));
    } catch (error) {
      result = promiseRejectedWith(error);
    }
    return this.#failsWith(result);
  }

  /** The same for a pipe: a transformer that returns no promise has finished. */
  #performFusedTransform(chunk: unknown): unknown {
    let result: unknown;
    try {
      result = this.transformer.transform(chunk);
    } catch (error) {
      return this.#transformFailed(error);
    }
    return isThenableLike(result) ? this.#failsWith(promiseResolvedWith(result)) : undefined;
  }

  /** Bound once for each stream whose transformer returns promises. */
  #onTransformFailed: ((error: unknown) => never) | undefined = undefined;

  /** A transform's promise, after whose rejection the stream has failed. */
  #failsWith(result: Promise<unknown>): Promise<void> {
    this.#onTransformFailed ??= (error) => this.#transformFailed(error);
    return react(result, undefined, this.#onTransformFailed) as Promise<void>;
  }

  #transformFailed(error: unknown): never {
    this.error(error);
    throw error;
  }
}
