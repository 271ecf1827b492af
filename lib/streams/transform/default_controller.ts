import { wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { defineInterface, isObject, requireState } from "../language/webidl.ts";
import type { TransformStreamState } from "./transform_state.ts";

let stateOf: (controller: TransformStreamDefaultController) => TransformStreamState;

/**
 * Gives a transformer the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#ts-default-controller-class}
 * @example End the stream from within
 * ```ts
 * import { ReadableStream, TransformStream } from "@millrace/streams/streams";
 *
 * const untilEnd = new TransformStream<string, string>({
 *   transform(line, controller) {
 *     if (line === "end") controller.terminate();
 *     else controller.enqueue(line.toUpperCase());
 *   },
 * });
 * const lines = ReadableStream.from(["mill", "race", "end", "not read"]).pipeThrough(untilEnd);
 * for await (const line of lines) console.log(line); // MILL, RACE
 * ```
 */
export class TransformStreamDefaultController<O = unknown> {
  readonly #state: TransformStreamState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** The free room of the readable end, in units of its strategy; `null` once it has errored. */
  get desiredSize(): number | null {
    return TransformStreamDefaultController.#of(this).desiredSize;
  }

  /**
   * Adds a chunk to the readable end.
   *
   * @throws {TypeError} if the readable end is closed or errored.
   * @throws what the readable strategy's size function throws.
   */
  enqueue(chunk: O = undefined as O): void {
    TransformStreamDefaultController.#of(this).enqueue(chunk);
  }

  /** Errors both ends. */
  error(reason: unknown = undefined): void {
    TransformStreamDefaultController.#of(this).error(reason);
  }

  /** Closes the readable end and errors the writable one: further chunks are refused. */
  terminate(): void {
    TransformStreamDefaultController.#of(this).terminate();
  }

  static {
    stateOf = (controller) => controller.#state;
  }

  static #of(value: unknown): TransformStreamState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("TransformStreamDefaultController");
    return (value as TransformStreamDefaultController).#state;
  }
}
defineInterface(TransformStreamDefaultController, "TransformStreamDefaultController");
showInNode(TransformStreamDefaultController, "desiredSize");

export function transformStreamStateOf(controller: TransformStreamDefaultController): TransformStreamState {
  return stateOf(controller);
}
