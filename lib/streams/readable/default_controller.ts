import { requireState } from "../shell.ts";
import { defineInterface } from "../webidl.ts";
import {
  type DefaultControllerState,
  enqueueWithoutPull,
  readableStreamDefaultControllerCallPullIfNeeded,
  readableStreamDefaultControllerCanCloseOrEnqueue,
  readableStreamDefaultControllerClose,
  readableStreamDefaultControllerError,
  readableStreamDefaultControllerGetDesiredSize,
} from "./default_controller_state.ts";

/**
 * Gives an underlying source the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-default-controller-class}
 * @example
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * new ReadableStream<string>({
 *   pull(controller) {
 *     controller.enqueue("one chunk");
 *     controller.close();
 *   },
 * });
 * ```
 */
export class ReadableStreamDefaultController<R = unknown> {
  readonly #state: DefaultControllerState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** How much room is left below the high-water mark, in units of the strategy; `null` once the stream has errored. */
  get desiredSize(): number | null {
    return readableStreamDefaultControllerGetDesiredSize(this.#state);
  }

  /**
   * Closes the stream once its chunks have been read.
   *
   * @throws {TypeError} if it is closed or errored already.
   */
  close(): void {
    if (!readableStreamDefaultControllerCanCloseOrEnqueue(this.#state)) throw this.#stateError("close");
    readableStreamDefaultControllerClose(this.#state);
  }

  /**
   * Adds a chunk.
   *
   * @throws {TypeError} if the stream is closed or errored.
   * @throws what the strategy's size function throws.
   */
  enqueue(chunk: R = undefined as R): void {
    const controller = this.#state;
    if (!readableStreamDefaultControllerCanCloseOrEnqueue(controller)) throw this.#stateError("enqueue");
    enqueueWithoutPull(controller, chunk);
    readableStreamDefaultControllerCallPullIfNeeded(controller);
  }

  /** Errors the stream: its chunks are dropped, and everything on it fails with `error`. */
  error(error: unknown = undefined): void {
    readableStreamDefaultControllerError(this.#state, error);
  }

  #stateError(action: string): TypeError {
    const { state } = this.#state.stream;
    return new TypeError(`Cannot ${action}: the stream ${state === "errored" ? "has errored" : "is closed"}`);
  }
}
defineInterface(
  ReadableStreamDefaultController,
  "ReadableStreamDefaultController",
  "close",
  "desiredSize",
  "enqueue",
  "error",
);
