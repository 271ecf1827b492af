import { isDetachedBuffer, NOT_EMPTY, toArrayBufferView } from "../language/array_buffers.ts";
import { cannot, wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { requireState } from "../language/shell.ts";
import { defineInterface, isObject, toUnsignedLongLong } from "../language/webidl.ts";
import type { ByobRequestState, ByteControllerState } from "./byte_controller_state.ts";
import {
  readableByteStreamControllerRespond,
  readableByteStreamControllerRespondWithNewView,
} from "./byob_response.ts";

/**
 * A buffer that a byte source is asked to fill.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-byob-request-class}
 * @example Fill the reader's own buffer
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const sevens = new ReadableStream({
 *   type: "bytes",
 *   pull({ byobRequest }) {
 *     const { buffer, byteOffset, byteLength } = byobRequest!.view!;
 *     new Uint8Array(buffer, byteOffset, byteLength).fill(7);
 *     byobRequest!.respond(byteLength);
 *   },
 * });
 * const { value } = await sevens.getReader({ mode: "byob" }).read(new Uint8Array(3));
 * console.log(value); // Uint8Array(3) [ 7, 7, 7 ]
 * ```
 */
export class ReadableStreamBYOBRequest {
  readonly #state: ByobRequestState;

  /** @throws {TypeError} always: byte streams make their requests. */
  constructor() {
    this.#state = requireState();
  }

  /** The view to write the bytes into; `null` once the request has been answered. */
  get view(): Uint8Array<ArrayBuffer> | null {
    return ReadableStreamBYOBRequest.#of(this).view;
  }

  /**
   * Says that the first `bytesWritten` bytes of the view have been filled.
   *
   * @throws {TypeError} if the request has been answered, the view is detached, or 0 does not fit the stream's state.
   * @throws {RangeError} if it is more than the view holds.
   */
  respond(bytesWritten: number): void {
    const request = ReadableStreamBYOBRequest.#of(this);
    const count = toUnsignedLongLong(bytesWritten, "bytesWritten");
    readableByteStreamControllerRespond(controllerOf(request, undefined), count);
  }

  /**
   * Says that another view of the same memory, transferred meanwhile, has been filled.
   *
   * @throws {TypeError} if the request has been answered, or the view is no view, detached or of the wrong emptiness.
   * @throws {RangeError} if it is not of the memory that was lent.
   */
  respondWithNewView(view: ArrayBufferView): void {
    const request = ReadableStreamBYOBRequest.#of(this);
    const { buffer } = toArrayBufferView(view, "the view");
    readableByteStreamControllerRespondWithNewView(controllerOf(request, buffer), view);
  }

  static #of(value: unknown): ByobRequestState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("ReadableStreamBYOBRequest");
    return (value as ReadableStreamBYOBRequest).#state;
  }
}
defineInterface(ReadableStreamBYOBRequest, "ReadableStreamBYOBRequest");
showInNode(ReadableStreamBYOBRequest, "view");

/** The controller of a request that waits for its answer, which is in the given buffer or else the request's own. */
function controllerOf(request: ByobRequestState, buffer: ArrayBuffer | undefined): ByteControllerState {
  const { controller } = request;
  if (controller === undefined) throw cannot("respond", "the request has been answered or is no longer wanted");
  const isDetached = buffer === undefined ? request.isViewDetached : isDetachedBuffer(buffer);
  if (isDetached) throw cannot("respond", `the view must be ${NOT_EMPTY}`);
  return controller;
}
