import { wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { defineInterface, isObject, requireState } from "../language/webidl.ts";
import { checkCanCloseOrEnqueue } from "./controller_state.ts";
import type { DefaultControllerState } from "./default_controller_state.ts";

/**
 * Gives an underlying source the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-default-controller-class}
 * @example Give one chunk, then end
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const stream = new ReadableStream<string>({
 *   pull(controller) {
 *     controller.enqueue("the only chunk");
 *     controller.close();
 *   },
 * });
 * for await (const chunk of stream) console.log(chunk); // the only chunk
 * ```
 */
export class ReadableStreamDefaultController<R = unknown> {
  readonly #state: DefaultControllerState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** The free room below the high-water mark, in units of the strategy; `null` once the stream has errored. */
  get desiredSize(): number | null {
    return ReadableStreamDefaultController.#of(this).desiredSize;
  }

  /**
   * Closes the stream once its chunks have been read.
   *
   * @throws {TypeError} if the stream is closed or errored already.
   */
  close(): void {
    const controller = ReadableStreamDefaultController.#of(this);
    checkCanCloseOrEnqueue(controller, "close");
    controller.close();
  }

  /**
   * Adds a chunk.
   *
   * @throws {TypeError} if the stream is closed or errored.
   * @throws what the strategy's size function throws.
   */
  enqueue(chunk: R = undefined as R): void {
    const controller = ReadableStreamDefaultController.#of(this);
    checkCanCloseOrEnqueue(controller, "enqueue");
    controller.enqueueWithoutPull(chunk);
    controller.callPullIfNeeded();
  }

  /** Errors the stream: its queued chunks are dropped, and all later operations fail with `error`. */
  error(error: unknown = undefined): void {
    ReadableStreamDefaultController.#of(this).error(error);
  }

  static #of(value: unknown): DefaultControllerState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("ReadableStreamDefaultController");
    return (value as ReadableStreamDefaultController).#state;
  }
}
defineInterface(ReadableStreamDefaultController, "ReadableStreamDefaultController");
showInNode(ReadableStreamDefaultController, "desiredSize");
