import { showInNode } from "#streams/inspection";
import {
  isDetachedBuffer,
  NOT_EMPTY,
  toArrayBufferView,
  transferArrayBuffer,
  viewSlots,
} from "../language/array_buffers.ts";
import { cannot, outOfRange, wrongThis } from "../language/errors.ts";
import { defineInterface, isObject, requireState, toUnsignedLongLong } from "../language/webidl.ts";
import {
  ByobRequestState,
  type ByteControllerState,
  commitPullIntoDescriptor,
  commitPullIntoDescriptors,
  enqueueClonedChunkToQueue,
  enqueueDetachedPullIntoToQueue,
  invalidateByobRequest,
  processPullIntosUsingQueue,
  takeBackBuffer,
} from "./byte_controller_state.ts";
import type { PullIntoDescriptor } from "./pull_into.ts";
import { ByobReaderState } from "./stream_state.ts";

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontrollergetbyobrequest} */
export function readableByteStreamControllerGetByobRequest(
  controller: ByteControllerState,
): ByobRequestState | undefined {
  if (controller.firstPullInto !== undefined) controller.byobRequest ??= new ByobRequestState(controller);
  return controller.byobRequest;
}

/**
 * @throws {TypeError} if no bytes were written to an open stream, or some bytes to a closed one.
 * @throws {RangeError} if more bytes were written than the view has room for.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond}
 */
export function readableByteStreamControllerRespond(controller: ByteControllerState, bytesWritten: number): void {
  const first = controller.firstPullInto!;
  checkBytesWritten(controller, first, bytesWritten);
  takeBackBuffer(controller, first);
  respondInternal(controller, bytesWritten);
}

/** Closes a stream, and the reads of its pending views. They reject if one ends within an element: no code awaits the source. */
export function endByteStream(controller: ByteControllerState): void {
  try {
    controller.close();
    if (controller.firstPullInto !== undefined) readableByteStreamControllerRespond(controller, 0);
  } catch {
    // the reader, or that of a branch, has the error
  }
}

/**
 * @throws {TypeError} if the view is empty on an open stream, or not empty on a closed one.
 * @throws {RangeError} if the view is not over the buffer of the request.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond-with-new-view}
 */
export function readableByteStreamControllerRespondWithNewView(
  controller: ByteControllerState,
  view: ArrayBufferView,
): void {
  const first = controller.firstPullInto!;
  const { buffer, byteOffset, byteLength } = viewSlots(view);
  checkBytesWritten(controller, first, byteLength);
  if (first.byteOffset + first.bytesFilled !== byteOffset || first.bufferByteLength !== buffer.byteLength) {
    throw outOfRange("the view must start where the BYOB request's view starts, in a buffer as long as its");
  }
  first.buffer = transferArrayBuffer(buffer);
  respondInternal(controller, byteLength);
}

function checkBytesWritten(controller: ByteControllerState, first: PullIntoDescriptor, bytesWritten: number): void {
  if ((controller.stream.state === "closed") !== (bytesWritten === 0)) {
    throw cannot("respond", `${bytesWritten} bytes are for a stream that is ${bytesWritten === 0 ? "closed" : "open"}`);
  }
  const room = first.byteLength - first.bytesFilled;
  if (bytesWritten > room) throw outOfRange(`the view has room for ${room} bytes, not for ${bytesWritten}`);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond-internal} */
function respondInternal(controller: ByteControllerState, bytesWritten: number): void {
  const first = controller.firstPullInto!;
  invalidateByobRequest(controller);
  if (controller.stream.state === "closed") respondInClosedState(controller, first);
  else respondInReadableState(controller, bytesWritten, first);
  controller.callPullIfNeeded();
}

function respondInClosedState(controller: ByteControllerState, first: PullIntoDescriptor): void {
  if (first.readerType === "none") controller.shiftPullInto();
  const { reader } = controller.stream;
  if (!(reader instanceof ByobReaderState)) return;
  const filled: PullIntoDescriptor[] = [];
  while (filled.length < reader.requests.length) filled.push(controller.shiftPullInto());
  commitPullIntoDescriptors(controller, filled);
}

function respondInReadableState(
  controller: ByteControllerState,
  bytesWritten: number,
  first: PullIntoDescriptor,
): void {
  first.bytesFilled += bytesWritten;
  if (first.readerType === "none") {
    enqueueDetachedPullIntoToQueue(controller, first);
    commitPullIntoDescriptors(controller, processPullIntosUsingQueue(controller));
    return;
  }
  if (first.bytesFilled < first.minimumFill) return;
  controller.shiftPullInto();
  const remainder = first.bytesFilled % first.kind.elementSize;
  if (remainder > 0) {
    const end = first.byteOffset + first.bytesFilled;
    enqueueClonedChunkToQueue(controller, first.buffer, end - remainder, remainder);
  }
  first.bytesFilled -= remainder;
  const filled = processPullIntosUsingQueue(controller);
  commitPullIntoDescriptor(controller, first);
  commitPullIntoDescriptors(controller, filled);
}

/**
 * A request to a byte source to fill a buffer.
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
   * Reports that the first `bytesWritten` bytes of the view are filled.
   *
   * @throws {TypeError} if the request has been answered, the view is detached, or `bytesWritten` is 0 on an open
   * stream, or not 0 on a closed one.
   * @throws {RangeError} if `bytesWritten` is more than the view has room for.
   */
  respond(bytesWritten: number): void {
    const request = ReadableStreamBYOBRequest.#of(this);
    const count = toUnsignedLongLong(bytesWritten, "bytesWritten");
    readableByteStreamControllerRespond(controllerOf(request, undefined), count);
  }

  /**
   * Reports that another view of the same memory, which may have been transferred, is filled.
   *
   * @throws {TypeError} if the request has been answered, or the argument is not a view, detached, empty on an open
   * stream, or not empty on a closed one.
   * @throws {RangeError} if the view is not over the memory of the request.
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

/** Returns the controller of a request that is pending in the given buffer, by default the request's own. */
function controllerOf(request: ByobRequestState, buffer: ArrayBuffer | undefined): ByteControllerState {
  const { controller } = request;
  if (controller === undefined) throw cannot("respond", "the request has been answered or is no longer wanted");
  const isDetached = buffer === undefined ? request.isViewDetached : isDetachedBuffer(buffer);
  if (isDetached) throw cannot("respond", `the view must be ${NOT_EMPTY}`);
  return controller;
}
