import { cloneAsUint8Array, viewSlots } from "../array_buffers.ts";
import { Deferred, queueReaction, react } from "../promises.ts";
import {
  type ByteControllerState,
  createReadableByteStream,
  readableByteStreamControllerClose,
  readableByteStreamControllerEnqueue,
  readableByteStreamControllerError,
} from "./byte_controller_state.ts";
import {
  readableByteStreamControllerGetByobRequest,
  readableByteStreamControllerRespond,
  readableByteStreamControllerRespondWithNewView,
} from "./byob_response.ts";
import type { SourceAlgorithms } from "./default_controller_state.ts";
import type { ReadIntoRequest, ReadRequest } from "./read_requests.ts";
import {
  acquireReadableStreamByobReader,
  acquireReadableStreamDefaultReader,
  type ByobReaderState,
  DefaultReaderState,
  readableStreamByobReaderRead,
  readableStreamDefaultReaderRead,
  readableStreamReaderRelease,
} from "./reader_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "./stream_state.ts";

/** @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamtee} */
export function readableByteStreamTee(stream: ReadableStreamState): [ReadableStreamState, ReadableStreamState] {
  const tee = new ByteTee(stream);
  return [tee.branches[0].stream, tee.branches[1].stream];
}

class ByteTee {
  readonly stream: ReadableStreamState;
  readonly branches: readonly [ByteTeeBranch, ByteTeeBranch];
  readonly cancelPromise = new Deferred<void>();
  reading = false;
  #reader: DefaultReaderState | ByobReaderState;

  constructor(stream: ReadableStreamState) {
    this.stream = stream;
    this.#reader = acquireReadableStreamDefaultReader(stream);
    this.branches = [new ByteTeeBranch(this), new ByteTeeBranch(this)];
    this.#forwardReaderError(this.#reader);
  }

  #forwardReaderError(reader: DefaultReaderState | ByobReaderState): void {
    react(reader.closed.promise, undefined, (error) => {
      if (reader !== this.#reader) return; // released by us
      for (const branch of this.branches) readableByteStreamControllerError(branch.controller, error);
      this.resolveCancelPromise();
    });
  }

  #defaultReader(): DefaultReaderState {
    if (this.#reader instanceof DefaultReaderState) return this.#reader;
    readableStreamReaderRelease(this.#reader);
    const reader = acquireReadableStreamDefaultReader(this.stream);
    this.#reader = reader;
    this.#forwardReaderError(reader);
    return reader;
  }

  #byobReader(): ByobReaderState {
    if (!(this.#reader instanceof DefaultReaderState)) return this.#reader;
    readableStreamReaderRelease(this.#reader);
    const reader = acquireReadableStreamByobReader(this.stream);
    this.#reader = reader;
    this.#forwardReaderError(reader);
    return reader;
  }

  pull(branch: ByteTeeBranch): void {
    if (this.reading) {
      branch.readAgain = true;
      return;
    }
    this.reading = true;
    const request = readableByteStreamControllerGetByobRequest(branch.controller);
    if (request === undefined) {
      readableStreamDefaultReaderRead(this.#defaultReader(), new TeeReadRequest(this));
    } else {
      const other = branch === this.branches[0] ? this.branches[1] : this.branches[0];
      const view = request.view!;
      const intoRequest = new TeeReadIntoRequest(this, branch, other);
      readableStreamByobReaderRead(this.#byobReader(), view, viewSlots(view), 1, intoRequest);
    }
  }

  cancelBranch(branch: ByteTeeBranch, reason: unknown): Promise<void> {
    branch.canceled = true;
    branch.reason = reason;
    const [first, second] = this.branches;
    if (first.canceled && second.canceled) {
      this.cancelPromise.resolve(readableStreamCancel(this.stream, [first.reason, second.reason]));
    }
    return this.cancelPromise.promise;
  }

  resolveCancelPromise(): void {
    const [first, second] = this.branches;
    if (!first.canceled || !second.canceled) this.cancelPromise.resolve();
  }

  /** A copy of a chunk for the other branch; if there is no memory for it, both branches fail. */
  clone(chunk: ArrayBufferView): Uint8Array | undefined {
    try {
      return cloneAsUint8Array(chunk);
    } catch (error) {
      for (const branch of this.branches) readableByteStreamControllerError(branch.controller, error);
      this.cancelPromise.resolve(readableStreamCancel(this.stream, error));
      return undefined;
    }
  }

  startForwarding(): void {
    for (const branch of this.branches) branch.readAgain = false;
  }

  finishForwarding(): void {
    this.reading = false;
    const again = this.branches.find((branch) => branch.readAgain);
    if (again !== undefined) this.pull(again);
  }
}

class ByteTeeBranch implements SourceAlgorithms {
  readonly stream: ReadableStreamState;
  canceled = false;
  reason: unknown = undefined;
  readAgain = false;
  readonly #tee: ByteTee;

  constructor(tee: ByteTee) {
    this.#tee = tee;
    this.stream = createReadableByteStream(this);
  }

  get controller(): ByteControllerState {
    return this.stream.controller as ByteControllerState;
  }

  pull(): void {
    this.#tee.pull(this);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#tee.cancelBranch(this, reason);
  }
}

class TeeReadRequest implements ReadRequest {
  readonly #tee: ByteTee;

  constructor(tee: ByteTee) {
    this.#tee = tee;
  }

  chunkSteps(chunk: unknown): void {
    queueReaction(() => this.#forward(chunk as Uint8Array));
  }

  #forward(chunk: Uint8Array): void {
    const tee = this.#tee;
    const [first, second] = tee.branches;
    tee.startForwarding();
    let chunk2: Uint8Array | undefined = chunk;
    if (!first.canceled && !second.canceled) {
      chunk2 = tee.clone(chunk);
      if (chunk2 === undefined) return;
    }
    if (!first.canceled) readableByteStreamControllerEnqueue(first.controller, viewSlots(chunk));
    if (!second.canceled) readableByteStreamControllerEnqueue(second.controller, viewSlots(chunk2));
    tee.finishForwarding();
  }

  closeSteps(): void {
    const tee = this.#tee;
    tee.reading = false;
    for (const branch of tee.branches) {
      if (!branch.canceled) readableByteStreamControllerClose(branch.controller);
    }
    for (const { controller } of tee.branches) {
      if (controller.pendingPullIntos.length > 0) readableByteStreamControllerRespond(controller, 0);
    }
    tee.resolveCancelPromise();
  }

  errorSteps(): void {
    this.#tee.reading = false;
  }
}

class TeeReadIntoRequest implements ReadIntoRequest {
  readonly #tee: ByteTee;
  readonly #byobBranch: ByteTeeBranch;
  readonly #otherBranch: ByteTeeBranch;

  constructor(tee: ByteTee, byobBranch: ByteTeeBranch, otherBranch: ByteTeeBranch) {
    this.#tee = tee;
    this.#byobBranch = byobBranch;
    this.#otherBranch = otherBranch;
  }

  chunkSteps(chunk: ArrayBufferView): void {
    queueReaction(() => this.#forward(chunk));
  }

  #forward(chunk: ArrayBufferView): void {
    const tee = this.#tee;
    tee.startForwarding();
    const { canceled: otherCanceled, controller: other } = this.#otherBranch;
    const clone = otherCanceled ? undefined : tee.clone(chunk);
    if (!otherCanceled && clone === undefined) return;
    const { canceled, controller } = this.#byobBranch;
    // The source may have errored since: then the standard's own steps would have no view to answer for.
    if (!canceled && controller.pendingPullIntos.length > 0) {
      readableByteStreamControllerRespondWithNewView(controller, chunk);
    }
    if (clone !== undefined) readableByteStreamControllerEnqueue(other, viewSlots(clone));
    tee.finishForwarding();
  }

  closeSteps(chunk: ArrayBufferView | undefined): void {
    const tee = this.#tee;
    tee.reading = false;
    const { canceled, controller } = this.#byobBranch;
    const { canceled: otherCanceled, controller: other } = this.#otherBranch;
    if (!canceled) readableByteStreamControllerClose(controller);
    if (!otherCanceled) readableByteStreamControllerClose(other);
    if (chunk !== undefined) {
      if (!canceled) readableByteStreamControllerRespondWithNewView(controller, chunk);
      if (!otherCanceled && other.pendingPullIntos.length > 0) readableByteStreamControllerRespond(other, 0);
    }
    tee.resolveCancelPromise();
  }

  errorSteps(): void {
    this.#tee.reading = false;
  }
}
