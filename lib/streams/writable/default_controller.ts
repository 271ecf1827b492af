import { requireState } from "../shell.ts";
import { defineInterface } from "../webidl.ts";
import { type WritableControllerState, writableStreamDefaultControllerErrorIfNeeded } from "./controller_state.ts";

/**
 * Gives an underlying sink the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#ws-default-controller-class}
 * @example
 * ```ts
 * import { WritableStream } from "@millrace/streams/streams";
 *
 * new WritableStream<string>({
 *   async write(chunk, controller) {
 *     if (chunk === "") return controller.error(new Error("no empty chunks, please"));
 *     await fetch("https://log.example", { method: "POST", body: chunk, signal: controller.signal });
 *   },
 * });
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
    return this.#state.signal;
  }

  /** Errors the stream: writes that wait are dropped, and everything on it fails with `error`. */
  error(error: unknown = undefined): void {
    writableStreamDefaultControllerErrorIfNeeded(this.#state, error);
  }
}
defineInterface(WritableStreamDefaultController, "WritableStreamDefaultController");
