import {
  cloneArrayBuffer,
  copyDataBlockBytes,
  isDetachedBuffer,
  transferArrayBuffer,
  ViewSlots,
} from "../language/array_buffers.ts";
import { cannot } from "../language/errors.ts";
import { Ring } from "../queuing/ring.ts";
import { ReadableControllerState, type SourceAlgorithms } from "./controller_state.ts";
import { PullIntoDescriptor } from "./pull_into.ts";
import type { ReadIntoRequest, ReadRequest } from "./read_requests.ts";
import { type ByobReaderState, DefaultReaderState } from "./reader_state.ts";
import { ReadableStreamState } from "./stream_state.ts";

/** The internal slots of a ReadableStreamBYOBRequest. */
export class ByobRequestState {
  controller: ByteControllerState | undefined;
  view: Uint8Array | null;
  /** The object that users hold, once there is one. */
  shell: object | undefined;
  constructor(controller: ByteControllerState, view: Uint8Array) {
    this.controller = controller;
    this.view = view;
  }
}

/**
 * The bytes that wait to be read.
 *
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-queue-entry}
 */
class ByteQueue extends Ring<ViewSlots> {
  totalSize = 0;

  /** Adds bytes, of which there must be one. */
  enqueue(chunk: ViewSlots): void {
    this.push(chunk);
    this.totalSize += chunk.byteLength;
  }

  /** Takes the first entry. */
  dequeue(): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.shift();
    this.totalSize -= byteLength;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** Moves bytes of the first entry into a descriptor, `most` of them at most; returns how many. */
  moveTo(descriptor: PullIntoDescriptor, most: number): number {
    const head = this.peek();
    const count = Math.min(most, head.byteLength);
    const start = descriptor.byteOffset + descriptor.bytesFilled;
    copyDataBlockBytes(descriptor.buffer, start, head.buffer, head.byteOffset, count);
    if (head.byteLength === count) this.shift();
    head.byteOffset += count;
    head.byteLength -= count;
    this.totalSize -= count;
    descriptor.bytesFilled += count;
    return count;
  }

  /** ResetQueue. */
  reset(): void {
    this.clear();
    this.totalSize = 0;
  }
}

/**
 * The internal slots of a ReadableByteStreamController.
 *
 * @see {@link https://streams.spec.whatwg.org/#rbs-controller-class}
 */
export class ByteControllerState extends ReadableControllerState {
  readonly queue: ByteQueue = new ByteQueue();
  readonly autoAllocateChunkSize: number | undefined;
  pendingPullIntos: Ring<PullIntoDescriptor> = new Ring();
  byobRequest: ByobRequestState | undefined;

  constructor(
    stream: ReadableStreamState,
    source: SourceAlgorithms,
    highWaterMark: number,
    autoAllocateChunkSize: number | undefined,
  ) {
    super(stream, source, highWaterMark);
    this.autoAllocateChunkSize = autoAllocateChunkSize;
  }

  /** The part of ReadableByteStreamControllerFillReadRequestFromQueue that makes the chunk; `hasBuffered` must hold. */
  readBuffered(): Uint8Array {
    const chunk = this.queue.dequeue();
    this.afterDequeue();
    return chunk;
  }

  /** @see {@link https://streams.spec.whatwg.org/#rbs-controller-private-pull} */
  pullSteps(request: ReadRequest): void {
    if (this.hasBuffered) {
      request.chunkSteps(this.readBuffered());
      return;
    }
    if (this.autoAllocateChunkSize !== undefined) {
      try {
        this.pendingPullIntos.push(PullIntoDescriptor.allocated(this.autoAllocateChunkSize));
      } catch (error) {
        request.errorSteps(error);
        return;
      }
    }
    (this.stream.reader as DefaultReaderState).requests.push(request);
    this.callPullIfNeeded();
  }

  /** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-pull-into} */
  pullInto(view: ArrayBufferView, slots: ViewSlots, min: number, request: ReadIntoRequest): void {
    let buffer: ArrayBuffer;
    try {
      buffer = transferArrayBuffer(slots.buffer);
    } catch (error) {
      request.errorSteps(error);
      return;
    }
    const descriptor = PullIntoDescriptor.forView(view, slots, buffer, min);
    const isFirst = this.pendingPullIntos.length === 0;
    if (isFirst) {
      if (this.stream.state === "closed") {
        request.closeSteps(descriptor.toView());
        return;
      }
      if (this.hasBuffered && fillPullIntoDescriptorFromQueue(this, descriptor)) {
        const filledView = descriptor.toView();
        this.afterDequeue();
        request.chunkSteps(filledView);
        return;
      }
      if (this.closeRequested) {
        request.errorSteps(errorInElement(this));
        return;
      }
    }
    this.pendingPullIntos.push(descriptor);
    (this.stream.reader as ByobReaderState).requests.push(request);
    if (isFirst) this.callPullIfNeeded();
  }

  /** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontroller-releasesteps} */
  releaseSteps(): void {
    if (this.pendingPullIntos.length === 0) return;
    const first = this.pendingPullIntos.peek();
    first.readerType = "none";
    this.pendingPullIntos = new Ring();
    this.pendingPullIntos.push(first);
  }

  /** ReadableByteStreamControllerClearPendingPullIntos, and what both controllers clear. */
  override clear(): void {
    invalidateByobRequest(this);
    this.pendingPullIntos = new Ring();
    super.clear();
  }

  /** @throws {TypeError} if a BYOB read is left with part of an element. */
  override finishClose(): void {
    if (this.pendingPullIntos.length > 0) {
      const first = this.pendingPullIntos.peek();
      if (first.bytesFilled % first.elementSize !== 0) throw errorInElement(this);
    }
    super.finishClose();
  }

  /**
   * @param chunk the slots of a view that has bytes; they become the queue's.
   * @throws {TypeError} if the chunk's buffer cannot be transferred, or the one a BYOB request lent is detached.
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-enqueue}
   */
  enqueue(chunk: ViewSlots): void {
    if (!this.canCloseOrEnqueue) return;
    chunk.buffer = transferArrayBuffer(chunk.buffer);
    if (this.pendingPullIntos.length > 0) this.#takeBackFirstPullInto(this.pendingPullIntos.peek());
    const { reader } = this.stream;
    if (reader instanceof DefaultReaderState) {
      while (reader.requests.length > 0 && this.hasBuffered) reader.requests.shift().chunkSteps(this.readBuffered());
      if (reader.requests.length > 0) {
        if (this.pendingPullIntos.length > 0) this.pendingPullIntos.shift();
        reader.requests.shift().chunkSteps(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      } else {
        this.queue.enqueue(chunk);
      }
    } else {
      this.queue.enqueue(chunk);
      if (reader) commitPullIntoDescriptors(this, processPullIntosUsingQueue(this));
    }
    this.callPullIfNeeded();
  }

  #takeBackFirstPullInto(first: PullIntoDescriptor): void {
    if (isDetachedBuffer(first.buffer)) throw cannot("enqueue", "the buffer of the BYOB request is detached");
    invalidateByobRequest(this);
    first.buffer = transferArrayBuffer(first.buffer);
    if (first.readerType === "none") enqueueDetachedPullIntoToQueue(this, first);
  }
}

/** Errors the stream, as it ends in the middle of an element of a view. */
function errorInElement(controller: ByteControllerState): TypeError {
  const error = cannot("close", "a view has been filled to the middle of an element");
  controller.error(error);
  return error;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-commit-pull-into-descriptor} */
export function commitPullIntoDescriptor(controller: ByteControllerState, descriptor: PullIntoDescriptor): void {
  const { state, reader } = controller.stream;
  const view = descriptor.toView();
  const request = reader!.requests.shift();
  if (state === "closed") (request as ReadIntoRequest).closeSteps(view);
  else request.chunkSteps(view);
}

/** The same for several, in order. */
export function commitPullIntoDescriptors(
  controller: ByteControllerState,
  filled: readonly PullIntoDescriptor[],
): void {
  for (const descriptor of filled) commitPullIntoDescriptor(controller, descriptor);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-process-pull-into-descriptors-using-queue} */
export function processPullIntosUsingQueue(controller: ByteControllerState): PullIntoDescriptor[] {
  const filled: PullIntoDescriptor[] = [];
  const { pendingPullIntos } = controller;
  while (pendingPullIntos.length > 0 && controller.hasBuffered) {
    if (fillPullIntoDescriptorFromQueue(controller, pendingPullIntos.peek())) filled.push(pendingPullIntos.shift());
  }
  return filled;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-fill-pull-into-descriptor-from-queue} */
function fillPullIntoDescriptorFromQueue(controller: ByteControllerState, descriptor: PullIntoDescriptor): boolean {
  const room = Math.min(controller.queue.totalSize, descriptor.byteLength - descriptor.bytesFilled);
  const maxBytesFilled = descriptor.bytesFilled + room;
  const maxAlignedBytes = maxBytesFilled - maxBytesFilled % descriptor.elementSize;
  const ready = maxAlignedBytes >= descriptor.minimumFill;
  let remaining = ready ? maxAlignedBytes - descriptor.bytesFilled : room;
  while (remaining > 0) remaining -= controller.queue.moveTo(descriptor, remaining);
  return ready;
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontrollerenqueueclonedchunktoqueue} */
export function enqueueClonedChunkToQueue(
  controller: ByteControllerState,
  buffer: ArrayBuffer,
  byteOffset: number,
  byteLength: number,
): void {
  let clone: ArrayBuffer;
  try {
    clone = cloneArrayBuffer(buffer, byteOffset, byteLength);
  } catch (error) {
    controller.error(error);
    throw error;
  }
  controller.queue.enqueue(new ViewSlots(clone, 0, byteLength));
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontrollerenqueuedetachedpullintotoqueue} */
export function enqueueDetachedPullIntoToQueue(controller: ByteControllerState, descriptor: PullIntoDescriptor): void {
  if (descriptor.bytesFilled > 0) {
    enqueueClonedChunkToQueue(controller, descriptor.buffer, descriptor.byteOffset, descriptor.bytesFilled);
  }
  controller.pendingPullIntos.shift();
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-invalidate-byob-request} */
export function invalidateByobRequest(controller: ByteControllerState): void {
  if (!controller.byobRequest) return;
  controller.byobRequest.controller = undefined;
  controller.byobRequest.view = null;
  controller.byobRequest = undefined;
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-createreadablebytestream} */
export function createReadableByteStream(source: SourceAlgorithms): ReadableStreamState {
  const stream = new ReadableStreamState();
  stream.controller = new ByteControllerState(stream, source, 0, undefined);
  stream.controller.start(undefined);
  return stream;
}
