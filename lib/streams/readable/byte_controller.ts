import { NOT_EMPTY, toArrayBufferView } from "../language/array_buffers.ts";
import { cannot, wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { defineInterface, isObject, passState, requireState } from "../language/webidl.ts";
import { readableByteStreamControllerGetByobRequest, ReadableStreamBYOBRequest } from "./byob_request.ts";
import type { ByteControllerState } from "./byte_controller_state.ts";
import { checkCanCloseOrEnqueue } from "./controller_state.ts";

/**
 * Gives an underlying byte source the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#rbs-controller-class}
 * @example Enqueue bytes on demand
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const stream = new ReadableStream({
 *   type: "bytes",
 *   pull(controller) {
 *     controller.enqueue(new Uint8Array(1024));
 *     controller.close();
 *   },
 * });
 * console.log((await new Response(stream).arrayBuffer()).byteLength); // 1024
 * ```
 */
export class ReadableByteStreamController {
  readonly #state: ByteControllerState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** The buffer to fill, provided by a reader or allocated by the stream; `null` if none is pending. */
  get byobRequest(): ReadableStreamBYOBRequest | null {
    const request = readableByteStreamControllerGetByobRequest(ReadableByteStreamController.#of(this));
    if (!request) return null;
    if (request.shell === undefined) {
      passState(request);
      request.shell = new ReadableStreamBYOBRequest();
    }
    return request.shell as ReadableStreamBYOBRequest;
  }

  /** The free bytes below the high-water mark; `null` once the stream has errored. */
  get desiredSize(): number | null {
    return ReadableByteStreamController.#of(this).desiredSize;
  }

  /**
   * Closes the stream once its bytes have been read.
   *
   * @throws {TypeError} if the stream is closed or errored already, or a view was filled to the middle of an element.
   */
  close(): void {
    const controller = ReadableByteStreamController.#of(this);
    checkCanCloseOrEnqueue(controller, "close");
    controller.close();
  }

  /**
   * Adds a view's bytes; its buffer is transferred, so the view is empty afterwards.
   *
   * @throws {TypeError} if the chunk is not a view, empty, detached or over shared memory, or if the stream is closed
   * or errored.
   */
  enqueue(chunk: ArrayBufferView): void {
    const controller = ReadableByteStreamController.#of(this);
    const slots = toArrayBufferView(chunk, "the chunk");
    if (slots.byteLength === 0) throw cannot("enqueue", `the chunk must be ${NOT_EMPTY}`);
    checkCanCloseOrEnqueue(controller, "enqueue");
    controller.enqueue(slots);
  }

  /** Errors the stream: its queued bytes are dropped, and all later operations fail with `error`. */
  error(error: unknown = undefined): void {
    ReadableByteStreamController.#of(this).error(error);
  }

  static #of(value: unknown): ByteControllerState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("ReadableByteStreamController");
    return (value as ReadableByteStreamController).#state;
  }
}
defineInterface(ReadableByteStreamController, "ReadableByteStreamController");
showInNode(ReadableByteStreamController, "desiredSize");
