import { cloneAsUint8Array, viewSlots } from "../array_buffers.ts";
import { Deferred, queueReaction, react } from "../promises.ts";
import { holdTasks, releaseTasks } from "../scheduler.ts";
import {
  readableByteStreamControllerGetByobRequest,
  readableByteStreamControllerRespond,
  readableByteStreamControllerRespondWithNewView,
} from "./byob_response.ts";
import { ByteControllerState, createReadableByteStream } from "./byte_controller_state.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import { createReadableStream } from "./default_controller_state.ts";
import type { ReadIntoRequest, ReadRequest } from "./read_requests.ts";
import {
  acquireReadableStreamByobReader,
  acquireReadableStreamDefaultReader,
  ByobReaderState,
  type DefaultReaderState,
  readableStreamByobReaderRead,
  readableStreamDefaultReaderRead,
  readableStreamReaderRelease,
} from "./reader_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "./stream_state.ts";

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-tee} */
export function readableStreamTee(stream: ReadableStreamState): [ReadableStreamState, ReadableStreamState] {
  const [first, second] = new Tee(stream).branches;
  return [first.stream, second.stream];
}

/**
 * One reader for two branches; it is its own request, as only one read is ever under way. Of a byte stream, it reads into
 * the view of a branch whose reader brought one, and gives the other branch a copy.
 *
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamdefaulttee}
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamtee}
 */
class Tee implements ReadRequest, ReadIntoRequest {
  readonly branches: readonly [TeeBranch, TeeBranch];
  readonly #stream: ReadableStreamState;
  readonly #cancelPromise = new Deferred<void>();
  #reader: DefaultReaderState | ByobReaderState;
  #reading = false;
  #chunk: unknown;
  /** The branch whose view the read under way fills, if it does. */
  #byobBranch: TeeBranch | undefined;

  constructor(stream: ReadableStreamState) {
    this.#stream = stream;
    this.#reader = acquireReadableStreamDefaultReader(stream);
    const isByteStream = stream.controller instanceof ByteControllerState;
    this.branches = [new TeeBranch(this, isByteStream), new TeeBranch(this, isByteStream)];
    this.#forwardReaderError(this.#reader);
  }

  #forwardReaderError(reader: DefaultReaderState | ByobReaderState): void {
    react(reader.closed.promise, undefined, (error) => {
      if (reader !== this.#reader) return; // released by us
      this.#errorBranches(error);
      this.#resolveCancelPromise();
    });
  }

  #errorBranches(error: unknown): void {
    for (const { stream } of this.branches) stream.controller.error(error);
  }

  pull(branch: TeeBranch): void {
    if (this.#reading) {
      branch.readAgain = true;
      return;
    }
    this.#reading = true;
    const { controller } = branch.stream;
    const request = controller instanceof ByteControllerState
      ? readableByteStreamControllerGetByobRequest(controller)
      : undefined;
    if ((request !== undefined) !== this.#reader instanceof ByobReaderState) this.#changeReader();
    if (!request) {
      this.#byobBranch = undefined;
      readableStreamDefaultReaderRead(this.#reader as DefaultReaderState, this);
    } else {
      const view = request.view!;
      this.#byobBranch = branch;
      readableStreamByobReaderRead(this.#reader as ByobReaderState, view, viewSlots(view), 1, this);
    }
  }

  #changeReader(): void {
    readableStreamReaderRelease(this.#reader);
    this.#reader = this.#reader instanceof ByobReaderState
      ? acquireReadableStreamDefaultReader(this.#stream)
      : acquireReadableStreamByobReader(this.#stream);
    this.#forwardReaderError(this.#reader);
  }

  cancelBranch(branch: TeeBranch, reason: unknown): Promise<void> {
    branch.canceled = true;
    branch.reason = reason;
    const [first, second] = this.branches;
    if (first.canceled && second.canceled) this.#cancelStream([first.reason, second.reason]);
    return this.#cancelPromise.promise;
  }

  #cancelStream(reason: unknown): void {
    this.#cancelPromise.resolve(readableStreamCancel(this.#stream, reason));
  }

  #resolveCancelPromise(): void {
    const [first, second] = this.branches;
    if (!first.canceled || !second.canceled) this.#cancelPromise.resolve();
  }

  /** Both branches, that with the view first. */
  #inOrder(): readonly [TeeBranch, TeeBranch] {
    const [first, second] = this.branches;
    return this.#byobBranch === second ? [second, first] : this.branches;
  }

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    queueReaction(this.#forward); // the standard delays this, so that errors overtake the chunk
  }

  readonly #forward = (): void => {
    const holds = holdTasks();
    try {
      this.#forwardChunk();
    } finally {
      if (holds) releaseTasks();
    }
  };

  #forwardChunk(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    const first = this.branches[0]; // to take an array apart takes longer
    const second = this.branches[1];
    first.readAgain = second.readAgain = false;
    const branch = this.#byobBranch ?? first;
    const other = branch === first ? second : first;
    let copy = chunk;
    const keepsChunk = !branch.canceled || this.#byobBranch !== undefined;
    if (keepsChunk && !other.canceled && other.stream.controller instanceof ByteControllerState) {
      try {
        copy = cloneAsUint8Array(chunk as ArrayBufferView);
      } catch (error) { // no memory
        this.#errorBranches(error);
        this.#cancelStream(error);
        return;
      }
    }
    if (!branch.canceled) this.#give(branch, chunk);
    if (!other.canceled) other.enqueue(copy);
    this.#reading = false;
    if (first.readAgain) this.pull(first);
    else if (second.readAgain) this.pull(second);
  }

  #give(branch: TeeBranch, chunk: unknown): void {
    if (this.#byobBranch === undefined) branch.enqueue(chunk);
    // The source may have errored since: then the standard's own steps would have no view to answer for.
    else branch.respond(chunk as ArrayBufferView);
  }

  closeSteps(view?: ArrayBufferView): void {
    this.#reading = false;
    const inOrder = this.#inOrder();
    for (const branch of inOrder) {
      if (!branch.canceled) branch.stream.controller.close();
    }
    for (const branch of inOrder) branch.respond(branch === this.#byobBranch ? view : undefined);
    this.#resolveCancelPromise();
  }

  errorSteps(): void {
    this.#reading = false;
  }
}

class TeeBranch implements SourceAlgorithms {
  readonly stream: ReadableStreamState;
  canceled = false;
  reason: unknown;
  /** Whether it asked for a chunk while one was being read. */
  readAgain = false;
  readonly #tee: Tee;

  constructor(tee: Tee, isByteStream: boolean) {
    this.#tee = tee;
    this.stream = isByteStream ? createReadableByteStream(this) : createReadableStream(this, 1);
  }

  pull(): void {
    this.#tee.pull(this);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#tee.cancelBranch(this, reason);
  }

  enqueue(chunk: unknown): void {
    const { controller } = this.stream;
    if (controller instanceof ByteControllerState) controller.enqueue(viewSlots(chunk as ArrayBufferView));
    else controller.enqueue(chunk);
  }

  /** Answers the BYOB request, if one waits: with the view that was filled, or with nothing. */
  respond(view: ArrayBufferView | undefined): void {
    const { controller } = this.stream;
    if (!(controller instanceof ByteControllerState) || controller.pendingPullIntos.length === 0) return;
    if (view === undefined) readableByteStreamControllerRespond(controller, 0);
    else readableByteStreamControllerRespondWithNewView(controller, view);
  }
}
