import { cloneAsUint8Array, viewSlots } from "../language/array_buffers.ts";
import { badValue, outOfRange } from "../language/errors.ts";
import { react } from "../language/promises.ts";
import { construct } from "../language/webidl.ts";
import { type ConvertedStrategy, extractHighWaterMark } from "../queuing/chunk_queue.ts";
import { ReadableStreamBYOBReader } from "./byob_reader.ts";
import {
  endByteStream,
  readableByteStreamControllerGetByobRequest,
  readableByteStreamControllerRespond,
  readableByteStreamControllerRespondWithNewView,
} from "./byob_request.ts";
import { ByteControllerState, createReadableByteStream } from "./byte_controller_state.ts";
import { ReadableByteStreamController } from "./byte_controller.ts";
import { Tee, TeeBranch } from "./default_tee.ts";
import {
  acquireReadableStreamByobReader,
  acquireReadableStreamDefaultReader,
  ByobReaderState,
  type DefaultReaderState,
  readableStreamByobReaderRead,
  readableStreamDefaultReaderRead,
  readableStreamReaderRelease,
  type ReadableStreamState,
  type ReadIntoRequest,
  type ReadRequest,
} from "./stream_state.ts";
import type { UnderlyingSourceAlgorithms } from "./underlying_source.ts";

const all = {
  /** Runs the part of the constructor for sources whose type is "bytes". */
  setUp(stream: ReadableStreamState, source: UnderlyingSourceAlgorithms, strategy: ConvertedStrategy): void {
    if (strategy.size !== undefined) throw outOfRange("a byte stream's strategy must not have a size function");
    const highWaterMark = extractHighWaterMark(strategy, 0);
    if (source.autoAllocateChunkSize === 0) throw badValue("autoAllocateChunkSize must be more than 0");
    const controller = new ByteControllerState(stream, source, highWaterMark, source.autoAllocateChunkSize);
    stream.controller = controller;
    controller.start(source.callStart(construct(ReadableByteStreamController, controller)));
  },
  tee: (stream: ReadableStreamState): ByteTee => new ByteTee(stream),
  getReader: (stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader =>
    new ReadableStreamBYOBReader(stream),
};

/** The parts of byte streams that the ReadableStream class uses. */
export type ByteStreams = typeof all;

/** Undefined only in pages that import no class or function by which byte streams are made. */
export const byteStreams: ByteStreams | undefined = all;

/**
 * A reader for two branches of bytes. It reads into the view of a branch's BYOB reader, if there is one, and copies the
 * bytes for the other branch.
 *
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablebytestreamtee}
 */
class ByteTee extends Tee implements ReadRequest, ReadIntoRequest {
  readonly branches: readonly [ByteTeeBranch, ByteTeeBranch];
  #reader: DefaultReaderState | ByobReaderState;
  /** The branch whose view the pending read fills, if it fills one. */
  #byobBranch: ByteTeeBranch | undefined;

  constructor(stream: ReadableStreamState) {
    super(stream);
    this.#reader = acquireReadableStreamDefaultReader(stream);
    this.branches = [
      new ByteTeeBranch(this, createReadableByteStream),
      new ByteTeeBranch(this, createReadableByteStream),
    ];
    this.#forwardReaderError(this.#reader);
  }

  #forwardReaderError(reader: DefaultReaderState | ByobReaderState): void {
    react(reader.closed.promise, () => this.#endRead(reader), (error) => {
      if (reader !== this.#reader) return; // the reader was released here
      this.errorBranches(error);
      this.resolveCancelPromise();
    });
  }

  /** Ends both branches if the source closed without a response to its BYOB request: in the standard they never end. */
  #endRead(reader: DefaultReaderState | ByobReaderState): void {
    // Departure "a byte tee whose source closes and does not answer for a view"
    if (reader !== this.#reader || !(reader instanceof ByobReaderState) || reader.requests.length === 0) return;
    endByteStream(this.stream.controller as ByteControllerState);
  }

  pull(branch: ByteTeeBranch): void {
    if (this.isReading) {
      branch.readAgain = true;
      return;
    }
    this.isReading = true;
    const request = readableByteStreamControllerGetByobRequest(branch.controller);
    if ((request !== undefined) !== this.#reader instanceof ByobReaderState) this.#changeReader();
    if (!request) {
      this.#byobBranch = undefined;
      readableStreamDefaultReaderRead(this.#reader as DefaultReaderState, this);
    } else {
      this.#byobBranch = branch;
      readableStreamByobReaderRead(this.#reader as ByobReaderState, viewSlots(request.view!), 1, this);
    }
  }

  #changeReader(): void {
    readableStreamReaderRelease(this.#reader);
    this.#reader = this.#reader instanceof ByobReaderState
      ? acquireReadableStreamDefaultReader(this.stream)
      : acquireReadableStreamByobReader(this.stream);
    this.#forwardReaderError(this.#reader);
  }

  protected forward(bytes: unknown): void {
    const chunk = bytes as ArrayBufferView;
    const [first, second] = this.branches;
    first.readAgain = second.readAgain = false;
    const byob = this.#byobBranch;
    const [branch, other] = this.#inOrder();
    let copy = chunk;
    if ((!branch.canceled || byob) && !other.canceled) {
      try {
        copy = cloneAsUint8Array(chunk);
      } catch (error) { // there is no memory for the copy
        this.errorBranches(error);
        this.cancelStream(error);
        return;
      }
    }
    if (!branch.canceled) {
      if (byob) branch.respond(chunk); // if the source has errored since, there is no view to respond to
      else branch.enqueue(chunk);
    }
    if (!other.canceled) other.enqueue(copy);
    this.isReading = false;
    if (first.readAgain) this.pull(first);
    else if (second.readAgain) this.pull(second);
  }

  /** Returns both branches; the one whose view is filled comes first. */
  #inOrder(): readonly [ByteTeeBranch, ByteTeeBranch] {
    const [first, second] = this.branches;
    return this.#byobBranch === second ? [second, first] : this.branches;
  }

  /** @throws {TypeError} if a branch's view is filled to the middle of an element; that branch errors. */
  closeSteps(view?: ArrayBufferView): void {
    this.isReading = false;
    let failed: { readonly error: unknown } | undefined;
    const closing = this.#inOrder().filter((branch) => {
      // In the standard, a failing branch ends these steps: the other branch closes at its next pull, unless a read is pending.
      if (failed !== undefined && !branch.stream.reader?.requests.length) return false;
      try {
        if (!branch.canceled) branch.controller.close();
      } catch (error) {
        failed = { error };
      }
      return true;
    });
    for (const branch of closing) branch.respond(branch === this.#byobBranch ? view : undefined);
    this.resolveCancelPromise();
    if (failed !== undefined) throw failed.error;
  }
}

class ByteTeeBranch extends TeeBranch {
  /** Whether the branch pulled while a chunk was being read. */
  readAgain = false;

  get controller(): ByteControllerState {
    return this.stream.controller as ByteControllerState;
  }

  enqueue(chunk: ArrayBufferView): void {
    this.controller.enqueue(viewSlots(chunk));
  }

  /** Responds to the pending BYOB request, if any: with the view that was filled, or with no bytes. */
  respond(view: ArrayBufferView | undefined): void {
    const { controller } = this;
    if (controller.firstPullInto === undefined) return;
    if (view === undefined) readableByteStreamControllerRespond(controller, 0);
    else readableByteStreamControllerRespondWithNewView(controller, view);
  }
}
