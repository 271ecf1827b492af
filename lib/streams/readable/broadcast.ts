import { ReadableStream } from "#streams/readable_stream";
import { PipeReaderState } from "../pipe/pipe.ts";
import { cloneAsUint8Array, viewSlots } from "../language/array_buffers.ts";
import { bytesOf } from "../language/bytes.ts";
import { cannot, lockedError, mustBe, outOfRange } from "../language/errors.ts";
import { isNativeReadableStream, isNativeReadableStreamLocked } from "../language/native_classes.ts";
import { markAsHandled } from "../language/promises.ts";
import { construct } from "../language/webidl.ts";
import { FromNativeByteSource, NativeReadableEnd } from "../native/ends/native_ends.ts";
import { checkedSize } from "../queuing/chunk_queue.ts";
import { endByteStream } from "./byob_request.ts";
import { ByteControllerState } from "./byte_controller_state.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import { DefaultControllerState } from "./default_controller_state.ts";
import { checkReadableStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import {
  type DefaultReaderState,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericInitialize,
  type ReadRequest,
} from "./stream_state.ts";
import { ByteReplay, ChunkReplay, type Replay } from "./replay.ts";
import { readableStreamCancel, ReadableStreamState } from "./stream_state.ts";

interface BroadcastSettings {
  readonly branches: number;
  /** The type of the branches; undefined for the type of the source. */
  readonly type: "bytes" | undefined;
  /** Whether `highWaterMark` is set without its unit, which for a native stream depends on the runtime. */
  readonly isUnitOpen: boolean;
  /** The high-water mark in chunks, or in bytes if the branches are byte streams. */
  readonly highWaterMark: { readonly chunks: number; readonly bytes: number };
  readonly size: ((chunk: unknown) => unknown) | undefined;
  /** Whether the source waits for the slowest branch, rather than for the fastest one. */
  readonly waits: boolean;
  /** Returns the error of a branch without room for a chunk; undefined if the branch drops its oldest chunks. */
  readonly overflowError:
    | ((branch: number, limit: number, option: "highWaterMark" | "replay") => unknown)
    | undefined;
  readonly onDrop: ((branch: number, dropped: number) => void) | undefined;
  /** The maximum size of chunks kept for branches that are added later. */
  readonly replay: number;
}

/** The first chunk of a branch that is added later: its position, or the first or the next one of the replay. */
export type BranchStart = number | "earliest" | "latest";

/** Locks a stream, of this package or native, for branches that get every chunk; throws a TypeError if it is locked. */
export function broadcastReadableStream(
  stream: unknown,
  settings: BroadcastSettings,
): { branches: ReadableStream[]; addBranch(from: BranchStart): ReadableStream } {
  const broadcast = new Broadcast(toSource(stream), settings);
  const toStream = (branch: Branch): ReadableStream => construct(ReadableStream, branch.stream);
  return { branches: broadcast.branches.map(toStream), addBranch: (from) => toStream(broadcast.addBranch(from)) };
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

/** A reader for any number of branches, and its own read request, since at most one read is pending. */
class Broadcast implements ReadRequest {
  /** The initial branches, and those added later, without those that ended. Each change replaces the list. */
  branches: readonly Branch[] = [];
  replay: Replay;
  readonly #source: ReadableStreamState;
  readonly #settings: BroadcastSettings;
  readonly #reader = new PipeReaderState({ wake: () => this.sourceEnded() });
  readonly #isByteSource: boolean;
  readonly #countsBytes: boolean;
  #isReading = false;
  /** Whether a call of `read()` is running, during which the source may end before it delivers the last chunk. */
  #isInRead = false;
  /** The number of branches ever added. */
  #count = 0;
  #failure: { readonly error: unknown } | undefined;
  #isCanceled = false;
  /** The number of leading branches that had room since the last chunk: thousands may ask one after the other. */
  withRoom = 0;

  constructor(source: ReadableStreamState, settings: BroadcastSettings) {
    this.#source = source;
    this.#settings = settings;
    this.#isByteSource = source.controller instanceof ByteControllerState;
    this.#countsBytes = this.#isByteSource || settings.type === "bytes";
    this.replay = this.#countsBytes ? new ByteReplay(settings.replay) : new ChunkReplay(settings.replay);
    this.branches = Array.from({ length: settings.branches }, () => this.#newBranch(0));
    readableStreamReaderGenericInitialize(this.#reader, source);
    this.sourceEnded();
  }

  #newBranch(position: number): Branch {
    return new Branch(this, this.#count++, this.#countsBytes, this.#settings.highWaterMark, position);
  }

  /**
   * @throws {RangeError} if the first chunk is no longer kept, or has not arrived.
   * @throws {TypeError} if the source was canceled.
   */
  addBranch(from: BranchStart): Branch {
    const { first, end } = this.replay;
    const position = from === "earliest" ? first : from === "latest" ? end : from;
    if (this.#failure === undefined) {
      if (this.#isCanceled) {
        throw cannot("add a branch", "the source was canceled with the last branch; keep one until all are added");
      }
      const hint = position > end
        ? `the stream has come to ${end}`
        : position < first && `what came before ${first} is gone; raise replay, or use "earliest"`;
      if (hint) throw outOfRange(`Cannot add a branch from ${position}: ${hint}`);
    }
    const branch = this.#newBranch(position);
    if (this.#source.state === "readable" || this.#isInRead) {
      const kept = this.branches.filter(({ index, isLive }) => isLive || index < this.#settings.branches);
      this.branches = [...kept, branch];
      this.withRoom = 0;
    }
    this.endIfOver(branch);
    return branch;
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
    if (!this.#settings.waits) return this.branches.some((branch) => branch.hasRoom && branch.isLive && !branch.isLate);
    for (; this.withRoom < this.branches.length; this.withRoom++) {
      const branch = this.branches[this.withRoom];
      if (branch.isLive && !branch.hasRoom) return false;
    }
    return this.branches.some((branch) => branch.isLive && !branch.isLate);
  }

  chunkSteps(chunk: unknown): void {
    try {
      if (!this.#countsBytes || this.#isByteSource) this.#forward(chunk);
      else this.#forwardBytes(bytesOf(chunk));
    } catch (error) { // size() threw, the chunk is of another type, or there is no memory for a copy
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
    this.#isReading = false; // the reader notifies the branches
  }

  /** Forwards a copy of a chunk's bytes, which the source may share with others. */
  #forwardBytes(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) throw mustBe('with type: "bytes", a chunk', "a Uint8Array or another kind of bytes");
    if (bytes.length > 0) this.#forward(new Uint8Array(bytes));
  }

  #forward(chunk: unknown): void {
    this.withRoom = 0;
    const { isUnitOpen, size, waits } = this.#settings;
    if (isUnitOpen && this.#source.controller.source instanceof NativeReadableEnd && ArrayBuffer.isView(chunk)) {
      throw cannot(
        "count its chunks",
        'they are bytes, and whether a native stream counts bytes depends on the runtime; add type: "bytes" or size',
      );
    }
    const chunkSize = size === undefined || this.#countsBytes ? 1 : checkedSize(size(chunk));
    const lates = waits ? this.branches.filter((branch) => branch.isLive && branch.isLate) : [];
    this.replay.add(chunk, chunkSize, lates.reduce((least, { position }) => Math.min(least, position), Infinity));
    const takers = this.branches.filter((branch) => branch.isLive && this.#takes(branch));
    for (let i = 0; i < takers.length; i++) {
      if (takers[i].isLive) takers[i].enqueue(chunk, chunkSize, i === takers.length - 1);
    }
    if (!this.branches.some(({ isLive }) => isLive)) this.#cancelSource();
  }

  /** Whether a branch takes a chunk from its queue; a branch in the replay finds it there. */
  #takes(branch: Branch): boolean {
    if (!branch.isLate) return this.#settings.waits || this.#hasOrMakesRoom(branch);
    const lost = this.replay.first - branch.position;
    if (lost > 0) this.#skip(branch, lost);
    return false;
  }

  /** Handles a late branch whose next chunk has left the replay: it errors, or continues with the oldest chunk. */
  #skip(branch: Branch, lost: number): void {
    const { onDrop, overflowError, replay } = this.#settings;
    if (overflowError !== undefined) return branch.fail(overflowError(branch.index, replay, "replay"));
    branch.goTo(this.replay.first);
    for (let left = this.#countsBytes ? 1 : lost; left > 0 && branch.isLive; left--) {
      onDrop?.(branch.index, ++branch.dropped);
    }
  }

  /** Whether a branch has room for a chunk; a full branch errors, or drops its oldest chunks. */
  #hasOrMakesRoom(branch: Branch): boolean {
    if (branch.hasRoom) return true;
    const { onDrop, overflowError } = this.#settings;
    const { queue, highWaterMark } = branch.stream.controller;
    if (overflowError !== undefined) {
      branch.fail(overflowError(branch.index, highWaterMark, "highWaterMark"));
      return false;
    }
    while (branch.isLive && !branch.hasRoom) {
      branch.dropped++;
      const isLost = queue.length === 0; // the high-water mark is 0
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
    if (state === "errored") this.#failure ??= { error: storedError };
    for (const branch of this.branches) this.endIfOver(branch);
  }

  endIfOver(branch: Branch): void {
    if (this.#failure !== undefined) branch.stream.controller.error(this.#failure.error);
    else if (this.#source.state !== "readable" && !this.#isInRead) branch.close();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const branch of this.branches) this.endIfOver(branch);
    markAsHandled(readableStreamCancel(this.#source, error));
  }

  /** Cancels the source if no branch is left; resumes it if this branch was the slowest. */
  branchCanceled(): Promise<void> | undefined {
    if (!this.branches.some(({ isLive }) => isLive)) return this.#cancelSource();
    this.advance();
    return undefined;
  }

  #cancelSource(): Promise<void> {
    if (this.#source.state === "readable") {
      this.#isCanceled = true;
      this.replay = new ChunkReplay(0); // no later branch can read it
    }
    const canceled = readableStreamCancel(this.#source, this.branches.map(({ reason }) => reason));
    markAsHandled(canceled); // unless a branch's cancel() returns this promise
    return canceled;
  }
}

/** The source of one branch's stream. */
class Branch implements SourceAlgorithms {
  readonly stream = new ReadableStreamState();
  readonly index: number;
  dropped = 0;
  /** The reason of the branch's cancellation, or its error. */
  reason: unknown;
  /** The position of the branch's next chunk in the replay; Infinity once the branch has caught up. */
  position = Infinity;
  readonly #broadcast: Broadcast;
  #hasLeft = false;

  constructor(
    broadcast: Broadcast,
    index: number,
    isByteStream: boolean,
    { bytes, chunks }: BroadcastSettings["highWaterMark"],
    position: number,
  ) {
    const { stream } = this;
    this.#broadcast = broadcast;
    this.index = index;
    this.goTo(position);
    stream.controller = isByteStream
      ? new ByteControllerState(stream, this, bytes, undefined)
      : new DefaultControllerState(stream, this, chunks, undefined);
    stream.controller.start(undefined);
  }

  goTo(position: number): void {
    this.position = position < this.#broadcast.replay.end ? position : Infinity;
  }

  get isLate(): boolean {
    return this.position < Infinity;
  }

  get isLive(): boolean {
    return !this.#hasLeft && this.stream.controller.canCloseOrEnqueue;
  }

  /**
   * Whether the branch takes another chunk: it has room or a pending read. A branch in the replay always has room
   * unless it would miss a chunk.
   */
  get hasRoom(): boolean {
    if (this.isLate) return this.#broadcast.replay.hasRoomBehind(this.position);
    const { controller, reader } = this.stream;
    return controller.highWaterMark > controller.queue.totalSize ||
      (reader !== undefined && reader.requests.length > 0);
  }

  pull(): void {
    if (this.isLate) {
      const { chunk, next, size } = this.#broadcast.replay.at(this.position);
      this.goTo(next);
      this.#broadcast.withRoom = 0; // its queue may be full once it has caught up
      this.enqueue(chunk, size, true);
    }
    this.#broadcast.endIfOver(this);
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

  /** Closes the stream. A byte stream closes at a pull without queued bytes, as a read with `min` gets fewer from it. */
  close(): void {
    const { controller } = this.stream;
    if (!this.isLive || this.isLate) return;
    if (!(controller instanceof ByteControllerState)) controller.close();
    else if (controller.queue.totalSize === 0) endByteStream(controller);
  }
}
