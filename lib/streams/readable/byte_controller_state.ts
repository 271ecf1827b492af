import {
  cloneArrayBuffer,
  copyDataBlockBytes,
  isDetachedBuffer,
  transferArrayBuffer,
  ViewSlots,
} from "../array_buffers.ts";
import { isThenableLike, newPromiseResolvedWith, queueReaction, react } from "../promises.ts";
import { Ring } from "../ring.ts";
import {
  callPull,
  cancelSource,
  CLEARED_SOURCE,
  type IS_HELD,
  type MAY_BE_HELD,
  REACTS,
  type SourceAlgorithms,
} from "./default_controller_state.ts";
import { PullIntoDescriptor } from "./pull_into.ts";
import type { ReadIntoRequest, ReadRequest } from "./read_requests.ts";
import { type ByobReaderState, DefaultReaderState } from "./reader_state.ts";
import { readableStreamClose, readableStreamError, ReadableStreamState } from "./stream_state.ts";

/** The internal slots of a ReadableStreamBYOBRequest. */
export class ByobRequestState {
  controller: ByteControllerState | undefined;
  view: Uint8Array | null;
  /** The object that users hold, once there is one. */
  shell: object | undefined = undefined;
  constructor(controller: ByteControllerState, view: Uint8Array) {
    this.controller = controller;
    this.view = view;
  }
}

/**
 * The internal slots of a ReadableByteStreamController.
 *
 * @see {@link https://streams.spec.whatwg.org/#rbs-controller-class}
 */
export class ByteControllerState {
  readonly stream: ReadableStreamState;
  source: SourceAlgorithms;
  /** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-queue-entry} */
  readonly queue: Ring<ViewSlots> = new Ring();
  queueTotalSize = 0;
  readonly highWaterMark: number;
  readonly autoAllocateChunkSize: number | undefined;
  pendingPullIntos: Ring<PullIntoDescriptor> = new Ring();
  byobRequest: ByobRequestState | undefined = undefined;
  started = false;
  closeRequested = false;
  pulling = false;
  pullAgain = false;
  /** See {@linkcode readBufferedHoldingPull}. */
  pullEnd: typeof REACTS | typeof MAY_BE_HELD | typeof IS_HELD = REACTS;
  #onPulled: (() => void) | undefined = undefined;
  #onPullFailed: ((error: unknown) => void) | undefined = undefined;

  constructor(
    stream: ReadableStreamState,
    source: SourceAlgorithms,
    highWaterMark: number,
    autoAllocateChunkSize: number | undefined,
  ) {
    this.stream = stream;
    this.source = source;
    this.highWaterMark = highWaterMark;
    this.autoAllocateChunkSize = autoAllocateChunkSize;
  }

  get onPulled(): () => void {
    return this.#onPulled ??= () => {
      this.pulling = false;
      if (!this.started) this.started = true;
      else if (!this.pullAgain) return;
      this.pullAgain = false;
      readableByteStreamControllerCallPullIfNeeded(this);
    };
  }

  get onPullFailed(): (error: unknown) => void {
    return this.#onPullFailed ??= (error) => readableByteStreamControllerError(this, error);
  }

  /** Whether a default reader's read would be served at once. */
  get hasBuffered(): boolean {
    return this.queueTotalSize > 0;
  }

  /** The part of ReadableByteStreamControllerFillReadRequestFromQueue that makes the chunk; `hasBuffered` must hold. */
  readBuffered(): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.queue.shift();
    this.queueTotalSize -= byteLength;
    readableByteStreamControllerHandleQueueDrain(this);
    return new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** @see {@link https://streams.spec.whatwg.org/#rbs-controller-private-pull} */
  pullSteps(request: ReadRequest): void {
    if (this.queueTotalSize > 0) {
      request.chunkSteps(this.readBuffered());
      return;
    }
    if (this.autoAllocateChunkSize !== undefined) {
      let descriptor: PullIntoDescriptor;
      try {
        descriptor = PullIntoDescriptor.allocated(this.autoAllocateChunkSize);
      } catch (error) {
        request.errorSteps(error);
        return;
      }
      this.pendingPullIntos.push(descriptor);
    }
    (this.stream.reader as DefaultReaderState).requests.push(request);
    readableByteStreamControllerCallPullIfNeeded(this);
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
    const { requests } = this.stream.reader as ByobReaderState;
    if (this.pendingPullIntos.length > 0) {
      this.pendingPullIntos.push(descriptor);
      requests.push(request);
    } else if (this.stream.state === "closed") {
      request.closeSteps(new descriptor.viewConstructor(descriptor.buffer, descriptor.byteOffset, 0));
    } else if (this.queueTotalSize > 0 && fillPullIntoDescriptorFromQueue(this, descriptor)) {
      const filledView = descriptor.toView();
      readableByteStreamControllerHandleQueueDrain(this);
      request.chunkSteps(filledView);
    } else if (this.closeRequested) {
      const error = new TypeError("Cannot fill the view: the stream was closed in the middle of an element");
      readableByteStreamControllerError(this, error);
      request.errorSteps(error);
    } else {
      this.pendingPullIntos.push(descriptor);
      requests.push(request);
      readableByteStreamControllerCallPullIfNeeded(this);
    }
  }

  /** @see {@link https://streams.spec.whatwg.org/#rbs-controller-private-cancel} */
  cancelSteps(reason: unknown): Promise<unknown> {
    clearPendingPullIntos(this);
    resetQueue(this);
    const { source } = this;
    this.source = CLEARED_SOURCE;
    return cancelSource(source, reason);
  }

  /** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontroller-releasesteps} */
  releaseSteps(): void {
    if (this.pendingPullIntos.length === 0) return;
    const first = this.pendingPullIntos.peek();
    first.readerType = "none";
    this.pendingPullIntos = new Ring();
    this.pendingPullIntos.push(first);
  }

  error(error: unknown): void {
    readableByteStreamControllerError(this, error);
  }

  /** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-should-call-pull} */
  shouldCallPull(): boolean {
    if (!this.started || this.closeRequested) return false;
    const { state, reader } = this.stream;
    if (state !== "readable") return false;
    if (reader !== undefined && reader.requests.length > 0) return true;
    return this.highWaterMark - this.queueTotalSize > 0;
  }
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-call-pull-if-needed} */
export function readableByteStreamControllerCallPullIfNeeded(controller: ByteControllerState): void {
  if (!controller.shouldCallPull()) return;
  if (controller.pulling) {
    controller.pullAgain = true;
    return;
  }
  controller.pulling = true;
  callPull(controller);
}

/**
 * @throws {TypeError} if a BYOB read is left with part of an element.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-close}
 */
export function readableByteStreamControllerClose(controller: ByteControllerState): void {
  if (controller.closeRequested || controller.stream.state !== "readable") return;
  if (controller.queueTotalSize > 0) {
    controller.closeRequested = true;
    return;
  }
  if (controller.pendingPullIntos.length > 0) {
    const first = controller.pendingPullIntos.peek();
    if (first.bytesFilled % first.elementSize !== 0) {
      const error = new TypeError("Cannot close: a view has been filled to the middle of an element");
      readableByteStreamControllerError(controller, error);
      throw error;
    }
  }
  controller.source = CLEARED_SOURCE;
  readableStreamClose(controller.stream);
}

/**
 * @param chunk the slots of a view that has bytes; they become the queue's.
 * @throws {TypeError} if the chunk's buffer cannot be transferred, or the one a BYOB request lent is detached.
 * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-enqueue}
 */
export function readableByteStreamControllerEnqueue(controller: ByteControllerState, chunk: ViewSlots): void {
  const { stream, pendingPullIntos } = controller;
  if (controller.closeRequested || stream.state !== "readable") return;
  chunk.buffer = transferArrayBuffer(chunk.buffer);
  if (pendingPullIntos.length > 0) {
    const first = pendingPullIntos.peek();
    if (isDetachedBuffer(first.buffer)) throw new TypeError("Cannot enqueue: the BYOB request's buffer is detached");
    invalidateByobRequest(controller);
    first.buffer = transferArrayBuffer(first.buffer);
    if (first.readerType === "none") enqueueDetachedPullIntoToQueue(controller, first);
  }
  const { reader } = stream;
  if (reader instanceof DefaultReaderState) {
    while (reader.requests.length > 0 && controller.queueTotalSize > 0) {
      reader.requests.shift().chunkSteps(controller.readBuffered());
    }
    if (reader.requests.length === 0) {
      enqueueChunkToQueue(controller, chunk);
    } else {
      if (controller.pendingPullIntos.length > 0) controller.pendingPullIntos.shift();
      reader.requests.shift().chunkSteps(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
  } else {
    enqueueChunkToQueue(controller, chunk);
    if (reader !== undefined) commitPullIntoDescriptors(controller, processPullIntosUsingQueue(controller));
  }
  readableByteStreamControllerCallPullIfNeeded(controller);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-error} */
export function readableByteStreamControllerError(controller: ByteControllerState, error: unknown): void {
  if (controller.stream.state !== "readable") return;
  clearPendingPullIntos(controller);
  resetQueue(controller);
  controller.source = CLEARED_SOURCE;
  readableStreamError(controller.stream, error);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-get-desired-size} */
export function readableByteStreamControllerGetDesiredSize(controller: ByteControllerState): number | null {
  const { state } = controller.stream;
  if (state === "errored") return null;
  return state === "closed" ? 0 : controller.highWaterMark - controller.queueTotalSize;
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
  while (pendingPullIntos.length > 0 && controller.queueTotalSize > 0) {
    if (fillPullIntoDescriptorFromQueue(controller, pendingPullIntos.peek())) filled.push(pendingPullIntos.shift());
  }
  return filled;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-fill-pull-into-descriptor-from-queue} */
function fillPullIntoDescriptorFromQueue(controller: ByteControllerState, descriptor: PullIntoDescriptor): boolean {
  const room = Math.min(controller.queueTotalSize, descriptor.byteLength - descriptor.bytesFilled);
  const maxBytesFilled = descriptor.bytesFilled + room;
  const maxAlignedBytes = maxBytesFilled - maxBytesFilled % descriptor.elementSize;
  const ready = maxAlignedBytes >= descriptor.minimumFill;
  let remaining = ready ? maxAlignedBytes - descriptor.bytesFilled : room;
  while (remaining > 0) {
    const head = controller.queue.peek();
    const count = Math.min(remaining, head.byteLength);
    const start = descriptor.byteOffset + descriptor.bytesFilled;
    copyDataBlockBytes(descriptor.buffer, start, head.buffer, head.byteOffset, count);
    if (head.byteLength === count) controller.queue.shift();
    head.byteOffset += count;
    head.byteLength -= count;
    controller.queueTotalSize -= count;
    descriptor.bytesFilled += count;
    remaining -= count;
  }
  return ready;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-handle-queue-drain} */
function readableByteStreamControllerHandleQueueDrain(controller: ByteControllerState): void {
  if (controller.queueTotalSize === 0 && controller.closeRequested) {
    controller.source = CLEARED_SOURCE;
    readableStreamClose(controller.stream);
  } else {
    readableByteStreamControllerCallPullIfNeeded(controller);
  }
}

function enqueueChunkToQueue(controller: ByteControllerState, chunk: ViewSlots): void {
  controller.queue.push(chunk);
  controller.queueTotalSize += chunk.byteLength;
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
    readableByteStreamControllerError(controller, error);
    throw error;
  }
  enqueueChunkToQueue(controller, new ViewSlots(clone, 0, byteLength));
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
  if (controller.byobRequest === undefined) return;
  controller.byobRequest.controller = undefined;
  controller.byobRequest.view = null;
  controller.byobRequest = undefined;
}

function clearPendingPullIntos(controller: ByteControllerState): void {
  invalidateByobRequest(controller);
  controller.pendingPullIntos = new Ring();
}

function resetQueue(controller: ByteControllerState): void {
  controller.queue.clear();
  controller.queueTotalSize = 0;
}

/** The end of every set-up: pulls once start has settled. */
export function startReadableByteStreamController(controller: ByteControllerState, startResult: unknown): void {
  if (isThenableLike(startResult)) {
    react(newPromiseResolvedWith(startResult), controller.onPulled, controller.onPullFailed);
  } else {
    queueReaction(controller.onPulled);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-createreadablebytestream} */
export function createReadableByteStream(source: SourceAlgorithms): ReadableStreamState {
  const stream = new ReadableStreamState();
  stream.controller = new ByteControllerState(stream, source, 0, undefined);
  startReadableByteStreamController(stream.controller, undefined);
  return stream;
}
