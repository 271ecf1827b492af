import { cloneAsUint8Array, viewSlots } from "../language/array_buffers.ts";
import { lockedError, mustBe } from "../language/errors.ts";
import { isNativeReadableStream, isNativeReadableStreamLocked } from "../language/native_classes.ts";
import { markAsHandled } from "../language/promises.ts";
import { construct } from "../language/webidl.ts";
import { FromNativeByteSource, NativeReadableEnd } from "../native/ends/native_ends.ts";
import { checkedSize } from "../queuing/chunk_queue.ts";
import { readableByteStreamControllerRespond } from "./byob_request.ts";
import { ByteControllerState } from "./byte_controller_state.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import { DefaultControllerState } from "./default_controller_state.ts";
import { checkReadableStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import {
  DefaultReaderState,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericInitialize,
  type ReadRequest,
} from "./stream_state.ts";
import { ReadableStream } from "./readable_stream.ts";
import { readableStreamCancel, ReadableStreamState } from "./stream_state.ts";

/** The settings of a broadcast's branches. */
interface BroadcastSettings {
  readonly branches: number;
  /** In chunks, or in bytes if the source is a byte stream. */
  readonly highWaterMark: { readonly chunks: number; readonly bytes: number };
  readonly size: ((chunk: unknown) => unknown) | undefined;
  /** Whether the source waits for the slowest branch, rather than for the fastest one. */
  readonly waits: boolean;
  /** Returns the error of a branch without room for a chunk; undefined: it loses its oldest chunks instead. */
  readonly overflowError: ((branch: number, highWaterMark: number) => unknown) | undefined;
  readonly onDrop: ((branch: number, dropped: number) => void) | undefined;
}

/** Locks a stream, of this package or native, for branches that get every chunk; TypeError if it is locked. */
export function broadcastReadableStream(stream: unknown, settings: BroadcastSettings): ReadableStream[] {
  const { branches } = new Broadcast(toSource(stream), settings);
  return branches.map(({ stream }) => construct(ReadableStream, stream));
}

function toSource(stream: unknown): ReadableStreamState {
  const state = readableStreamStateOf(stream);
  if (state !== undefined) {
    checkReadableStreamFree(state, "broadcast it");
    return state;
  }
  if (!isNativeReadableStream(stream)) throw mustBe("the stream", "a ReadableStream");
  if (isNativeReadableStreamLocked(stream)) throw lockedError("broadcast it");
  return FromNativeByteSource.open(stream)?.state ?? new NativeReadableEnd(stream).acquire();
}

/** The reader of a broadcast, which notifies it of the end of the source. */
class BroadcastReaderState extends DefaultReaderState {
  readonly #broadcast: Broadcast;
  override readonly mostPullsAtOnce = 64;

  constructor(broadcast: Broadcast) {
    super();
    this.#broadcast = broadcast;
  }
  override streamClosed(): void {
    super.streamClosed();
    this.#broadcast.sourceEnded();
  }
  override streamErrored(error: unknown): void {
    super.streamErrored(error);
    this.#broadcast.sourceEnded();
  }
}

/** A reader for any number of branches; it is its own read request, as only one read is ever under way. */
class Broadcast implements ReadRequest {
  readonly branches: readonly Branch[];
  readonly #source: ReadableStreamState;
  readonly #settings: BroadcastSettings;
  readonly #reader: BroadcastReaderState;
  #isReading = false;
  /** Whether a call of `read()` is running, in which the source may end before it delivers the last chunk. */
  #isInRead = false;

  constructor(source: ReadableStreamState, settings: BroadcastSettings) {
    this.#source = source;
    this.#settings = settings;
    const isByteStream = source.controller instanceof ByteControllerState;
    this.branches = Array.from(
      { length: settings.branches },
      (_, index) => new Branch(this, index, isByteStream, settings.highWaterMark),
    );
    this.#reader = new BroadcastReaderState(this);
    readableStreamReaderGenericInitialize(this.#reader, source);
    this.sourceEnded();
  }

  /** Reads as long as there is demand. */
  advance(): void {
    while (!this.#isReading && this.#source.state === "readable" && this.#isWanted()) {
      this.#isReading = true;
      this.#isInRead = true;
      readableStreamDefaultReaderRead(this.#reader, this);
      this.#isInRead = false;
      this.sourceEnded();
    }
  }

  #isWanted(): boolean {
    const { waits } = this.#settings;
    let isWanted = false;
    for (const branch of this.branches) {
      if (!branch.isLive) continue;
      if (branch.hasRoom) isWanted = true;
      else if (waits) return false;
    }
    return isWanted;
  }

  chunkSteps(chunk: unknown): void {
    try {
      this.#forward(chunk);
    } catch (error) { // the user's, or there is no memory for a copy
      this.#fail(error);
    }
    this.#isReading = false;
    if (!this.#isInRead) this.advance();
  }

  closeSteps(): void {
    this.#isReading = false;
    this.sourceEnded();
  }

  errorSteps(): void {
    this.#isReading = false; // the reader tells the branches
  }

  #forward(chunk: unknown): void {
    const { size, waits } = this.#settings;
    const countsBytes = this.#source.controller instanceof ByteControllerState;
    const chunkSize = size === undefined || countsBytes ? 1 : checkedSize(size(chunk));
    const takers = this.branches.filter((branch) => branch.isLive && (waits || this.#hasOrMakesRoom(branch)));
    for (let i = 0; i < takers.length; i++) {
      if (takers[i].isLive) takers[i].enqueue(chunk, chunkSize, i === takers.length - 1);
    }
    if (!this.branches.some(({ isLive }) => isLive)) this.#cancelSource();
  }

  /** Whether a branch takes a chunk: a full one fails, or drops its oldest chunks. */
  #hasOrMakesRoom(branch: Branch): boolean {
    if (branch.hasRoom) return true;
    const { onDrop, overflowError } = this.#settings;
    const { queue, highWaterMark } = branch.stream.controller;
    if (overflowError !== undefined) {
      branch.fail(overflowError(branch.index, highWaterMark));
      return false;
    }
    while (branch.isLive && !branch.hasRoom) {
      branch.dropped++;
      const isLost = queue.length === 0; // the mark is 0
      if (!isLost) queue.dequeue();
      onDrop?.(branch.index, branch.dropped);
      if (isLost) return false;
    }
    return branch.isLive;
  }

  /** Ends the branches, if the source has ended. */
  sourceEnded(): void {
    const { state, storedError } = this.#source;
    if (state === "readable" || this.#isInRead) return;
    if (state === "errored") this.#errorBranches(storedError);
    else for (const branch of this.branches) branch.close();
  }

  #errorBranches(error: unknown): void {
    for (const { stream } of this.branches) stream.controller.error(error);
  }

  #fail(error: unknown): void {
    this.#errorBranches(error);
    markAsHandled(readableStreamCancel(this.#source, error));
  }

  /** Cancels the source if no branch is left, and resumes it if this branch was the slowest. */
  branchCanceled(): Promise<void> | undefined {
    if (!this.branches.some(({ isLive }) => isLive)) return this.#cancelSource();
    this.advance();
    return undefined;
  }

  #cancelSource(): Promise<void> {
    const canceled = readableStreamCancel(this.#source, this.branches.map(({ reason }) => reason));
    markAsHandled(canceled); // if it was not a branch's cancel() that came to this
    return canceled;
  }
}

/** The source of one branch's stream. */
class Branch implements SourceAlgorithms {
  readonly stream = new ReadableStreamState();
  readonly index: number;
  dropped = 0;
  /** The reason of its cancellation, or its error. */
  reason: unknown;
  readonly #broadcast: Broadcast;
  #hasLeft = false;

  constructor(
    broadcast: Broadcast,
    index: number,
    isByteStream: boolean,
    { bytes, chunks }: BroadcastSettings["highWaterMark"],
  ) {
    const { stream } = this;
    this.#broadcast = broadcast;
    this.index = index;
    stream.controller = isByteStream
      ? new ByteControllerState(stream, this, bytes, undefined)
      : new DefaultControllerState(stream, this, chunks, undefined);
    stream.controller.start(undefined);
  }

  get isLive(): boolean {
    return !this.#hasLeft && this.stream.controller.canCloseOrEnqueue;
  }

  /** Whether it has room, or a read is pending. */
  get hasRoom(): boolean {
    const { controller, reader } = this.stream;
    return controller.highWaterMark > controller.queue.totalSize ||
      (reader !== undefined && reader.requests.length > 0);
  }

  pull(): void {
    this.#broadcast.advance();
  }

  cancel(reason: unknown): Promise<void> | undefined {
    this.#hasLeft = true;
    this.reason = reason;
    return this.#broadcast.branchCanceled();
  }

  fail(error: unknown): void {
    this.#hasLeft = true;
    this.reason = error;
    this.stream.controller.error(error);
  }

  /** Enqueues a chunk: a copy of its bytes, unless this is the last branch to get them. */
  enqueue(chunk: unknown, size: number, isLast: boolean): void {
    const { controller, reader } = this.stream;
    if (controller instanceof ByteControllerState) {
      const view = chunk as ArrayBufferView;
      controller.enqueue(viewSlots(isLast ? view : cloneAsUint8Array(view)));
    } else if (reader !== undefined && reader.requests.length > 0) {
      (reader as DefaultReaderState).requests.shift().chunkSteps(chunk);
      controller.callPullIfNeeded();
    } else {
      controller.queue.enqueue(chunk, size);
      controller.callPullIfNeeded();
    }
  }

  close(): void {
    const { controller } = this.stream;
    if (!this.isLive) return;
    try {
      controller.close();
      // Views from readers wait until they are answered.
      if (controller instanceof ByteControllerState && controller.firstPullInto !== undefined) {
        readableByteStreamControllerRespond(controller, 0);
      }
    } catch {
      // a view was filled to the middle of an element: its read rejects
    }
  }
}
