import { transferArrayBuffer, viewSlots } from "../array_buffers.ts";
import {
  ByobRequestState,
  type ByteControllerState,
  commitPullIntoDescriptor,
  commitPullIntoDescriptors,
  enqueueClonedChunkToQueue,
  enqueueDetachedPullIntoToQueue,
  invalidateByobRequest,
  processPullIntosUsingQueue,
  readableByteStreamControllerCallPullIfNeeded,
} from "./byte_controller_state.ts";
import type { PullIntoDescriptor } from "./pull_into.ts";
import { ByobReaderState } from "./reader_state.ts";

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontrollergetbyobrequest} */
export function readableByteStreamControllerGetByobRequest(
  controller: ByteControllerState,
): ByobRequestState | undefined {
  if (controller.byobRequest === undefined && controller.pendingPullIntos.length > 0) {
    const { buffer, byteOffset, bytesFilled, byteLength } = controller.pendingPullIntos.peek();
    const view = new Uint8Array(buffer, byteOffset + bytesFilled, byteLength - bytesFilled);
    controller.byobRequest = new ByobRequestState(controller, view);
  }
  return controller.byobRequest;
}

/**
 * @throws {TypeError} if nothing was written to an open stream, or something to a closed one.
 * @throws {RangeError} if more was written than the view holds.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond}
 */
export function readableByteStreamControllerRespond(controller: ByteControllerState, bytesWritten: number): void {
  const first = controller.pendingPullIntos.peek();
  if (controller.stream.state === "closed") {
    if (bytesWritten !== 0) throw new TypeError("bytesWritten must be 0 when the stream is closed");
  } else {
    if (bytesWritten === 0) throw new TypeError("bytesWritten must be more than 0 while the stream is open");
    if (first.bytesFilled + bytesWritten > first.byteLength) {
      throw new RangeError(
        `bytesWritten is ${bytesWritten}, but the view has room for ${first.byteLength - first.bytesFilled}`,
      );
    }
  }
  first.buffer = transferArrayBuffer(first.buffer);
  respondInternal(controller, bytesWritten);
}

/**
 * @throws {TypeError} if the view is empty on an open stream, or not empty on a closed one.
 * @throws {RangeError} if the view is not of the memory that was lent.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond-with-new-view}
 */
export function readableByteStreamControllerRespondWithNewView(
  controller: ByteControllerState,
  view: ArrayBufferView,
): void {
  const first = controller.pendingPullIntos.peek();
  const { buffer, byteOffset, byteLength } = viewSlots(view);
  if (controller.stream.state === "closed") {
    if (byteLength !== 0) throw new TypeError("the view must be empty when the stream is closed");
  } else if (byteLength === 0) {
    throw new TypeError("the view must not be empty while the stream is open");
  }
  if (first.byteOffset + first.bytesFilled !== byteOffset) {
    throw new RangeError("the view must start where the BYOB request's view starts");
  }
  if (first.bufferByteLength !== buffer.byteLength) {
    throw new RangeError("the view's buffer must be as long as the BYOB request's");
  }
  if (first.bytesFilled + byteLength > first.byteLength) {
    throw new RangeError("the view must not be longer than the BYOB request's");
  }
  first.buffer = transferArrayBuffer(buffer);
  respondInternal(controller, byteLength);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-respond-internal} */
function respondInternal(controller: ByteControllerState, bytesWritten: number): void {
  const first = controller.pendingPullIntos.peek();
  invalidateByobRequest(controller);
  if (controller.stream.state === "closed") respondInClosedState(controller, first);
  else respondInReadableState(controller, bytesWritten, first);
  readableByteStreamControllerCallPullIfNeeded(controller);
}

function respondInClosedState(controller: ByteControllerState, first: PullIntoDescriptor): void {
  if (first.readerType === "none") controller.pendingPullIntos.shift();
  const { reader } = controller.stream;
  if (!(reader instanceof ByobReaderState)) return;
  const filled: PullIntoDescriptor[] = [];
  while (filled.length < reader.requests.length) filled.push(controller.pendingPullIntos.shift());
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
  controller.pendingPullIntos.shift();
  const remainder = first.bytesFilled % first.elementSize;
  if (remainder > 0) {
    const end = first.byteOffset + first.bytesFilled;
    enqueueClonedChunkToQueue(controller, first.buffer, end - remainder, remainder);
  }
  first.bytesFilled -= remainder;
  const filled = processPullIntosUsingQueue(controller);
  commitPullIntoDescriptor(controller, first);
  commitPullIntoDescriptors(controller, filled);
}
