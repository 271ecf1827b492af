import {
  attempt,
  Deferred,
  inAMicrotask,
  isThenableLike,
  NO_ALGORITHMS,
  PENDING,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
  settle,
} from "../language/promises.ts";
import { cannot, endedControllerError } from "../language/errors.ts";
import { queueResume, type SourceAlgorithms } from "../readable/controller_state.ts";
import type { DefaultControllerState } from "../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { type SinkAlgorithms, writableStreamDefaultControllerErrorIfNeeded } from "../writable/controller_state.ts";
import { type Context, currentContext, isSameContext, runIn } from "#streams/async_context";
import type { Task } from "../shortcuts/task.ts";
import { writableStreamFinishParkedWrite } from "../writable/pipe_write.ts";
import { writableStreamFinishInFlightWriteWithError, type WritableStreamState } from "../writable/stream_state.ts";

/** The algorithms of a transform stream: a user's transformer, or an internal one. Each may throw. */
export interface TransformerAlgorithms {
  transform(chunk: unknown): unknown;
  flush(reason: unknown): unknown;
  cancel(reason: unknown): unknown;
}

const CANCEL = "cancel";
const FLUSH = "flush";

/**
 * The internal slots of a TransformStream and its controller. It is the sink of its writable end, and the source of its
 * readable end.
 *
 * In the standard, a pull waits for backpressure and a write for its end by `[[backpressureChangePromise]]`. Here both
 * are parked, and resume when the promise's reaction would run. Between two pipes they resume at once.
 *
 * @see {@link https://streams.spec.whatwg.org/#ts-internal-slots}
 */
export class TransformStreamState implements SinkAlgorithms, SourceAlgorithms {
  backpressure = true;
  readable!: ReadableStreamState; // all of these are assigned by the set-up
  writable!: WritableStreamState;
  transformer: TransformerAlgorithms = NO_ALGORITHMS;
  /** The stream as the runtime transfers it; created when the runtime first reads it. */
  nativeSide: object | undefined;
  #finishPromise: Promise<void> | undefined;
  #hasParkedWrite = false;
  #parkedChunk: unknown;
  #parkedContext: Context;
  #pipeIn: Task | undefined;
  #pipeOut: Task | undefined;
  /** Whether one pipe writes and another one reads, and both were created in the same context. */
  #isOneContext = false;
  #hasParkedPull = false;

  get readableController(): DefaultControllerState {
    return this.readable.controller as DefaultControllerState;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-write-algorithm} */
  write(chunk: unknown): unknown {
    if (!this.backpressure) return this.#performTransform(chunk);
    this.#hasParkedWrite = true;
    this.#parkedChunk = chunk;
    // Writes of a released writer come before a pipe's writes, and are not in the pipe's context.
    const isOfPipe = this.#pipeIn !== undefined && this.writable.inFlightWriteRequest!.settlesAtOnce;
    this.#parkedContext = isOfPipe ? this.#pipeIn!.context : currentContext();
    return PENDING;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-abort-algorithm} */
  abort(reason: unknown): Promise<void> {
    return this.#finish(CANCEL, reason, this.readable, () => this.readableController.error(reason));
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-sink-close-algorithm} */
  close(): Promise<void> {
    return this.#finish(FLUSH, undefined, this.readable, () => this.readableController.close());
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-source-cancel} */
  cancel(reason: unknown): Promise<void> {
    return this.#finish(CANCEL, reason, this.writable, () => this.errorWritableAndUnblockWrite(reason));
  }

  /**
   * Calls `cancel()` or `flush()` for a cancel, an abort or a close; [[finishPromise]] settles with the outcome. Then
   * `finish` ends the other end, unless that has errored; if the transformer failed, the other end errors.
   */
  #finish(
    method: typeof CANCEL | typeof FLUSH,
    reason: unknown,
    other: ReadableStreamState | WritableStreamState,
    end: () => void,
  ): Promise<void> {
    if (this.#finishPromise !== undefined) return this.#finishPromise;
    const finished = new Deferred<void>();
    this.#finishPromise = finished.promise;
    // Departure "algorithms of a terminated transform": after terminate(), `transformer` is NO_ALGORITHMS, which has
    // all methods.
    const result = attempt(() => this.transformer[method](reason));
    this.transformer = NO_ALGORITHMS;
    settle(result, () => {
      if (other.state === "errored") {
        finished.reject(other.storedError);
      } else {
        end();
        finished.resolve();
      }
    }, (error) => {
      if (other === this.readable) this.readableController.error(error);
      else this.errorWritableAndUnblockWrite(error);
      finished.reject(error);
    });
    return finished.promise;
  }

  /** @see {@link https://streams.spec.whatwg.org/#transform-stream-default-source-pull-algorithm} */
  pull(): unknown {
    this.#hasParkedPull = true;
    this.#endBackpressure();
    return PENDING;
  }

  /**
   * @throws {TypeError} if the readable end is closed or errored.
   * @throws what the readable strategy's size function throws.
   * @see {@link https://streams.spec.whatwg.org/#transform-stream-default-controller-enqueue}
   */
  enqueue(chunk: unknown): void {
    const { readable } = this;
    const controller = readable.controller as DefaultControllerState;
    if (controller.closeRequested || readable.state !== "readable") {
      throw endedControllerError("enqueue", readable.state);
    }
    if (!controller.sizeAlgorithm) controller.enqueueWithoutPull(chunk);
    else this.#enqueueWithSize(controller, chunk);
    this.updateBackpressure(controller);
  }

  /** Runs the last step of enqueueing and ReadableStreamDefaultControllerHasBackpressure, which make the same comparison. */
  updateBackpressure(controller: DefaultControllerState): void {
    if (controller.shouldCallPull()) controller.callPullIfNeeded();
    else if (!this.backpressure) this.#startBackpressure(controller, this.readable.reader);
  }

  #enqueueWithSize(controller: DefaultControllerState, chunk: unknown): void {
    try {
      controller.enqueueWithoutPull(chunk);
    } catch (error) {
      this.errorWritableAndUnblockWrite(error);
      throw this.readable.storedError;
    }
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
    this.transformer = NO_ALGORITHMS;
    writableStreamDefaultControllerErrorIfNeeded(this.writable.controller, error);
    if (this.backpressure) this.#endBackpressure();
  }

  /** Runs TransformStreamSetBackpressure(true) if no pull is needed, since the parked pull has ended. */
  #startBackpressure(controller: DefaultControllerState, reader: ReadableStreamState["reader"]): void {
    this.backpressure = true;
    if (!this.#hasParkedPull) return;
    this.#hasParkedPull = false;
    if (reader?.mostPullsAtOnce) {
      controller.pulling = false;
      controller.pullAgain = false;
    } else {
      queueResume(controller);
    }
  }

  /** Runs TransformStreamSetBackpressure(false): resumes the parked write. */
  #endBackpressure(): void {
    this.backpressure = false;
    if (!this.#hasParkedWrite) return;
    this.#hasParkedWrite = false;
    if (!this.writable.inFlightWriteRequest!.settlesAtOnce) this.#resumeWriteInMicrotask();
    else if (this.#isOneContext) this.run();
    else if (this.readable.reader?.mostPullsAtOnce || this.writable.state === "erroring") this.#resumeWrite();
    else queueReaction(() => this.#resumeWrite());
  }

  pipedTo(pipe: Task | undefined): void {
    this.#pipeIn = pipe;
    this.#comparePipes();
  }

  pipedFrom(pipe: Task | undefined): void {
    this.#pipeOut = pipe;
    this.#comparePipes();
  }

  #comparePipes(): void {
    const into = this.#pipeIn;
    const out = this.#pipeOut;
    this.#isOneContext = into !== undefined && out !== undefined && isSameContext(into.context, out.context);
  }

  #resumeWriteInMicrotask(): void {
    const { controller } = this.writable;
    const context = this.#parkedContext;
    const written = inAMicrotask(() => {
      const chunk = this.#takeParkedChunk();
      if (this.writable.state === "erroring") throw this.writable.storedError;
      let transformed: Promise<void> | undefined;
      runIn(context, { run: () => void (transformed = this.#performTransform(chunk)) });
      return transformed;
    });
    settle(written, controller.onWritten, controller.onWriteFailed);
  }

  /** Resumes the parked write in the context that it was made in, as the reaction of the standard's promise does. */
  #resumeWrite(): void {
    runIn(this.#parkedContext, this);
  }

  run(): void {
    const chunk = this.#takeParkedChunk();
    if (this.writable.state === "erroring") {
      writableStreamFinishInFlightWriteWithError(this.writable, this.writable.storedError);
      return;
    }
    let result: unknown;
    try { // no attempt(): a function for each chunk would take time
      result = this.#performTransform(chunk);
    } catch (error) {
      result = promiseRejectedWith(error);
    }
    writableStreamFinishParkedWrite(this.writable.controller, result);
  }

  #takeParkedChunk(): unknown {
    const chunk = this.#parkedChunk;
    this.#parkedChunk = undefined;
    this.#parkedContext = undefined;
    return chunk;
  }

  /**
   * Calls the transformer; if the write is a pipe's and the call returns no promise, it has finished.
   * @see {@link https://streams.spec.whatwg.org/#transform-stream-default-controller-perform-transform}
   */
  #performTransform(chunk: unknown): Promise<void> | undefined {
    const { settlesAtOnce } = this.writable.inFlightWriteRequest!;
    let transformed: Promise<unknown>;
    try {
      const result = this.transformer.transform(chunk);
      if (settlesAtOnce && !isThenableLike(result)) return undefined;
      transformed = promiseResolvedWith(result);
    } catch (error) {
      if (settlesAtOnce) return this.#transformFailed(error);
      transformed = promiseRejectedWith(error);
    }
    this.#onTransformFailed ??= (error) => this.#transformFailed(error);
    return react(transformed, undefined, this.#onTransformFailed) as Promise<void>;
  }

  /** Bound once for each stream whose transformer returns promises. */
  #onTransformFailed: ((error: unknown) => never) | undefined;

  #transformFailed(error: unknown): never {
    this.error(error);
    throw error;
  }
}
