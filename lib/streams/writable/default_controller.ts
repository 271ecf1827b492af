import { wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { defineInterface, isObject, requireState } from "../language/webidl.ts";
import { type WritableControllerState, writableStreamDefaultControllerErrorIfNeeded } from "./controller_state.ts";

/**
 * Gives an underlying sink the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#ws-default-controller-class}
 * @example Refuse a chunk, and with it the stream
 * ```ts
 * import { WritableStream } from "@millrace/streams/streams";
 *
 * const stream = new WritableStream<string>({
 *   write(chunk, controller) {
 *     if (chunk === "") controller.error(new RangeError("no empty chunks, please"));
 *   },
 * });
 * const writer = stream.getWriter();
 * await writer.write("");
 * console.log(await writer.closed.catch((error) => error.message)); // no empty chunks, please
 * ```
 */
export class WritableStreamDefaultController {
  readonly #state: WritableControllerState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** Aborted, with the same reason, when the stream is aborted: also in the middle of a write. */
  get signal(): AbortSignal {
    return WritableStreamDefaultController.#of(this).signal;
  }

  /** Errors the stream: writes that wait are dropped, and everything on it fails with `error`. */
  error(error: unknown = undefined): void {
    writableStreamDefaultControllerErrorIfNeeded(WritableStreamDefaultController.#of(this), error);
  }

  static #of(value: unknown): WritableControllerState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("WritableStreamDefaultController");
    return (value as WritableStreamDefaultController).#state;
  }
}
defineInterface(WritableStreamDefaultController, "WritableStreamDefaultController");
showInNode(WritableStreamDefaultController, "signal");
