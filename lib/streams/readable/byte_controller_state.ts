import { cloneArrayBuffer, lengthOf, transferArrayBuffer, ViewSlots, viewSlots } from "../language/array_buffers.ts";
import { cannot } from "../language/errors.ts";
import { ByteQueue, PullIntoDescriptor } from "./pull_into.ts";
import { ReadableControllerState, type SourceAlgorithms } from "./controller_state.ts";
import { type ByobReaderState, DefaultReaderState, type ReadIntoRequest, type ReadRequest } from "./stream_state.ts";
import { ReadableStreamState } from "./stream_state.ts";

/** The internal slots of a ReadableStreamBYOBRequest. */
export class ByobRequestState {
  controller: ByteControllerState | undefined;
  /** The view, once user code may have read it. */
  shownView: Uint8Array<ArrayBuffer> | undefined;
  /** The public object, once there is one. */
  shell: object | undefined;
  constructor(controller: ByteControllerState) {
    this.controller = controller;
  }

  /** The part of the first descriptor that is to be filled, made at the first access; `null` once the request is answered. */
  get view(): Uint8Array<ArrayBuffer> | null {
    if (this.controller === undefined) return null;
    return this.shownView ??= this.controller.firstPullInto!.toRoom();
  }

  /** Whether user code has transferred the view's buffer. */
  get isViewDetached(): boolean {
    return this.shownView !== undefined && lengthOf(this.shownView) === 0;
  }
}

/** The queue of all streams that have not buffered bytes yet: many never do. */
const EMPTY = new ByteQueue();

/** The {@link https://streams.spec.whatwg.org/#rbs-controller-class internal slots} of a byte stream controller. */
export class ByteControllerState extends ReadableControllerState {
  queue: ByteQueue = EMPTY;
  readonly autoAllocateChunkSize: number | undefined;
  /** The first of [[pendingPullIntos]], which links to the others. */
  firstPullInto: PullIntoDescriptor | undefined;
  #lastPullInto: PullIntoDescriptor | undefined;
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

  override get type(): "bytes" {
    return "bytes";
  }

  /** Runs the part of ReadableByteStreamControllerFillReadRequestFromQueue that makes the chunk; `hasBuffered` must be true. */
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
        this.#addPullInto(PullIntoDescriptor.allocated(this.autoAllocateChunkSize));
      } catch (error) {
        request.errorSteps(error);
        return;
      }
    }
    (this.stream.reader as DefaultReaderState).requests.push(request);
    this.callPullIfNeeded();
  }

  /** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-pull-into} */
  pullInto(slots: ViewSlots, min: number, request: ReadIntoRequest): void {
    let buffer: ArrayBuffer;
    try {
      buffer = transferArrayBuffer(slots.buffer);
    } catch (error) {
      request.errorSteps(error);
      return;
    }
    const descriptor = PullIntoDescriptor.forView(slots, buffer, min);
    const isFirst = this.firstPullInto === undefined;
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
    this.#addPullInto(descriptor);
    (this.stream.reader as ByobReaderState).requests.push(request);
    if (isFirst) this.callPullIfNeeded();
  }

  #addPullInto(descriptor: PullIntoDescriptor): void {
    if (this.firstPullInto === undefined) this.firstPullInto = descriptor;
    else this.#lastPullInto!.next = descriptor;
    this.#lastPullInto = descriptor;
  }

  /** Runs ReadableByteStreamControllerShiftPendingPullInto; the list must not be empty. */
  shiftPullInto(): PullIntoDescriptor {
    const first = this.firstPullInto!;
    this.firstPullInto = first.next;
    if (first.next === undefined) this.#lastPullInto = undefined; // otherwise it would keep the reader's buffer alive
    first.next = undefined;
    return first;
  }

  /** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontroller-releasesteps} */
  releaseSteps(): void {
    const first = this.firstPullInto;
    if (first === undefined) return;
    first.readerType = "none";
    first.next = undefined;
    this.#lastPullInto = first;
  }

  /** Runs ReadableByteStreamControllerClearPendingPullIntos, and the steps that both controllers share. */
  override clear(): void {
    invalidateByobRequest(this);
    this.firstPullInto = this.#lastPullInto = undefined;
    super.clear();
  }

  /** @throws {TypeError} if a BYOB read ends with part of an element. */
  override finishClose(): void {
    const first = this.firstPullInto;
    if (first !== undefined && first.bytesFilled % first.kind.elementSize !== 0) throw errorInElement(this);
    super.finishClose();
  }

  /**
   * @param chunk the slots of a view that is not empty; the queue takes ownership of its bytes.
   * @throws {TypeError} if the chunk's buffer cannot be transferred, or the buffer of a BYOB request is detached.
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-enqueue}
   */
  enqueue(chunk: ViewSlots): void {
    if (!this.canCloseOrEnqueue) return;
    chunk.buffer = transferArrayBuffer(chunk.buffer);
    if (this.firstPullInto !== undefined) this.#takeBackFirstPullInto(this.firstPullInto);
    const { reader } = this.stream;
    if (reader instanceof DefaultReaderState) {
      while (reader.requests.length > 0 && this.hasBuffered) reader.requests.shift().chunkSteps(this.readBuffered());
      if (reader.requests.length > 0) {
        if (this.firstPullInto !== undefined) this.shiftPullInto();
        reader.requests.shift().chunkSteps(chunk.toBytes());
      } else {
        this.addToQueue(chunk);
      }
    } else {
      this.addToQueue(chunk);
      if (reader) commitPullIntoDescriptors(this, processPullIntosUsingQueue(this));
    }
    this.callPullIfNeeded();
  }

  enqueueWithoutPull(chunk: unknown): void {
    this.addToQueue(viewSlots(chunk as ArrayBufferView));
  }

  /** The standard's EnqueueChunkToQueue; the chunk's buffer must have no other user. */
  addToQueue(chunk: ViewSlots): void {
    if (this.queue === EMPTY) this.queue = new ByteQueue();
    this.queue.enqueue(chunk);
  }

  #takeBackFirstPullInto(first: PullIntoDescriptor): void {
    if (this.byobRequest?.isViewDetached) throw cannot("enqueue", "the buffer of the BYOB request is detached");
    takeBackBuffer(this, first);
    invalidateByobRequest(this);
    if (first.readerType === "none") enqueueDetachedPullIntoToQueue(this, first);
  }
}

/** Errors the stream because its last bytes end within an element of a view, or are fewer than its read's `min`. */
function errorInElement(controller: ByteControllerState): TypeError {
  const error = cannot("close", "the last bytes are no whole element of the view, or fewer than the `min` of its read");
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

/** Commits several descriptors in order, each like CommitPullIntoDescriptor. */
export function commitPullIntoDescriptors(
  controller: ByteControllerState,
  filled: readonly PullIntoDescriptor[],
): void {
  for (const descriptor of filled) commitPullIntoDescriptor(controller, descriptor);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-process-pull-into-descriptors-using-queue} */
export function processPullIntosUsingQueue(controller: ByteControllerState): PullIntoDescriptor[] {
  const filled: PullIntoDescriptor[] = [];
  while (controller.firstPullInto !== undefined && controller.hasBuffered) {
    if (fillPullIntoDescriptorFromQueue(controller, controller.firstPullInto)) filled.push(controller.shiftPullInto());
  }
  return filled;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-fill-pull-into-descriptor-from-queue} */
function fillPullIntoDescriptorFromQueue(controller: ByteControllerState, descriptor: PullIntoDescriptor): boolean {
  const room = Math.min(controller.queue.totalSize, descriptor.byteLength - descriptor.bytesFilled);
  const maxBytesFilled = descriptor.bytesFilled + room;
  const maxAlignedBytes = maxBytesFilled - maxBytesFilled % descriptor.kind.elementSize;
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
  controller.addToQueue(new ViewSlots(clone, 0, byteLength, undefined));
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamcontrollerenqueuedetachedpullintotoqueue} */
export function enqueueDetachedPullIntoToQueue(controller: ByteControllerState, descriptor: PullIntoDescriptor): void {
  if (descriptor.bytesFilled > 0) {
    enqueueClonedChunkToQueue(controller, descriptor.buffer, descriptor.byteOffset, descriptor.bytesFilled);
  }
  controller.shiftPullInto();
}

/** @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-invalidate-byob-request} */
export function invalidateByobRequest(controller: ByteControllerState): void {
  if (!controller.byobRequest) return;
  controller.byobRequest.controller = undefined;
  controller.byobRequest.shownView = undefined;
  controller.byobRequest = undefined;
}

/** Detaches the source's view of the first descriptor's buffer. If the source has no view, no transfer is needed. */
export function takeBackBuffer(controller: ByteControllerState, first: PullIntoDescriptor): void {
  if (controller.byobRequest?.shownView) first.buffer = transferArrayBuffer(first.buffer);
}

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-createreadablebytestream} */
export function createReadableByteStream(source: SourceAlgorithms): ReadableStreamState {
  const stream = new ReadableStreamState();
  stream.controller = new ByteControllerState(stream, source, 0, undefined);
  stream.controller.start(undefined);
  return stream;
}
