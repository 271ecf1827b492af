import { isDetachedBuffer, toArrayBufferView, viewSlots } from "../array_buffers.ts";
import { requireState } from "../shell.ts";
import { defineInterface, toUnsignedLongLong } from "../webidl.ts";
import type { ByobRequestState, ByteControllerState } from "./byte_controller_state.ts";
import {
  readableByteStreamControllerRespond,
  readableByteStreamControllerRespondWithNewView,
} from "./byob_response.ts";

/**
 * A buffer that a byte source is asked to fill.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-byob-request-class}
 * @example
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * new ReadableStream({
 *   type: "bytes",
 *   autoAllocateChunkSize: 65536,
 *   pull(controller) {
 *     const { view } = controller.byobRequest!;
 *     new Uint8Array(view!.buffer, view!.byteOffset, view!.byteLength).fill(1);
 *     controller.byobRequest!.respond(view!.byteLength);
 *   },
 * });
 * ```
 */
export class ReadableStreamBYOBRequest {
  readonly #state: ByobRequestState;

  /** @throws {TypeError} always: byte streams make their requests. */
  constructor() {
    this.#state = requireState();
  }

  /** Where the bytes go; `null` once the request has been answered. */
  get view(): Uint8Array<ArrayBuffer> | null {
    return this.#state.view as Uint8Array<ArrayBuffer> | null;
  }

  /**
   * Says that the first `bytesWritten` bytes of the view have been filled.
   *
   * @throws {TypeError} if the request has been answered, the view is detached, or 0 does not fit the stream's state.
   * @throws {RangeError} if it is more than the view holds.
   */
  respond(bytesWritten: number): void {
    const request = this.#state;
    const count = toUnsignedLongLong(bytesWritten, "bytesWritten");
    readableByteStreamControllerRespond(controllerOf(request), count);
  }

  /**
   * Says that another view of the same memory, transferred meanwhile, has been filled.
   *
   * @throws {TypeError} if the request has been answered, or the view is no view, detached or of the wrong emptiness.
   * @throws {RangeError} if it is not of the memory that was lent.
   */
  respondWithNewView(view: ArrayBufferView): void {
    const request = this.#state;
    const { buffer } = toArrayBufferView(view, "the view");
    if (request.controller === undefined) throw answeredError();
    if (isDetachedBuffer(buffer)) throw new TypeError("Cannot respond: the view is detached");
    readableByteStreamControllerRespondWithNewView(request.controller, view);
  }
}
defineInterface(ReadableStreamBYOBRequest, "ReadableStreamBYOBRequest", "respond", "respondWithNewView", "view");

function controllerOf({ controller, view }: ByobRequestState): ByteControllerState {
  if (controller === undefined) throw answeredError();
  if (isDetachedBuffer(viewSlots(view!).buffer)) throw new TypeError("Cannot respond: the request's view is detached");
  return controller;
}

function answeredError(): TypeError {
  return new TypeError("Cannot respond: the request has been answered or is no longer wanted");
}
