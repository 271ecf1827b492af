import { globalFunction, type GlobalFunctions } from "#streams/host";
import { Deferred } from "../../language/promises.ts";
import type { DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { RunningPipe } from "../../readable/pull_run.ts";
import { acquireArray, ARRAY_LENGTH } from "../../shortcuts/chunk_array_queue.ts";
import { currentPause } from "../../shortcuts/task.ts";
import type { WriteRequest } from "../stream_state.ts";

/** The queue of a sink that takes batches. A batch is one growing chunk and one request to the ordinary queue. */
export interface Batching {
  /** Adds a chunk that a writer wrote; returns the promise of its batch. An invalid size errors the stream. */
  enqueue(chunk: unknown, size: number): Promise<void>;
  /** Adds a chunk that a pipe wrote. */
  enqueueForPipe(chunk: unknown, size: number, request: WriteRequest): void;
  /** Moves chunks of size 1 from a source for a pipe while there is room; returns whether it moved any. */
  moveForPipe(source: DefaultControllerState, pipe: RunningPipe & WriteRequest): boolean;
  /** Removes all chunks of waiting batches and returns them in order; their requests stay pending. */
  drain(): unknown[];
  /** Whether the first waiting batch is to be written now; otherwise it is written when the current turn ends. */
  isDue(): boolean;
  /** Writes the waiting batches now, as no chunks will follow. If `closes`, the stream closes after that. */
  hurry(closes?: boolean): void;
  /** Drops the waiting batches. */
  end(): void;
}

/**
 * Chunks that arrive as an array stay in it if there are at least this many. Up to this many single chunks share an
 * array that grows; further ones get arrays of a fixed size, since growing an array leaves twice its size as garbage.
 */
const SMALL_PART = 64;
const NONE: unknown[] = [];

/** The owner of a batch, notified when it has been written. */
export interface BatchOwner {
  batchWritten(batch: Batch): void;
}

/** The chunks of one call of `writev()`, and the requests that wait for it. */
export class Batch implements WriteRequest {
  readonly #owner: BatchOwner;
  /** The sum of the chunks' sizes. */
  size = 0;
  #length = 0;
  /** The chunks, in arrays that are joined only when the batch is complete: appending one to another would copy more. */
  #parts: unknown[][] = [];
  /** The last array, if it has room for single chunks, with its count and capacity. */
  #open: unknown[] = NONE;
  #openLength = 0;
  #openRoom = 0;
  /** The deferred of all `write()` promises of this batch: all of them settle together. */
  #deferred: Deferred<void> | undefined = undefined;
  /** The pipes that wrote some of the chunks; few batches have more than one. */
  readonly #pipes: WriteRequest[] = [];

  constructor(owner: BatchOwner) {
    this.#owner = owner;
  }

  /** Whether no `write()` promise exists, so that a synchronous sink may end the batch at once. */
  get settlesAtOnce(): boolean {
    return this.#deferred === undefined;
  }

  get promise(): Promise<void> {
    return (this.#deferred ??= new Deferred()).promise;
  }

  add(chunk: unknown, size: number): void {
    if (this.#openLength === this.#openRoom) this.#openPart();
    this.#open[this.#openLength++] = chunk;
    this.#length++;
    this.size += size;
  }

  /** Adds chunks of size 1; the list must not be used again. */
  addAll(chunks: unknown[]): void {
    if (chunks.length < SMALL_PART) {
      for (let i = 0; i < chunks.length; i++) this.add(chunks[i], 1);
      return;
    }
    this.#closePart();
    this.#parts.push(chunks);
    this.#length += chunks.length;
    this.size += chunks.length;
  }

  /** Removes all chunks, in arrays without another user. */
  takeParts(): unknown[][] {
    this.#closePart();
    return this.#parts;
  }

  /** Removes all chunks, in one array without another user. */
  takeChunks(): unknown[] {
    const parts = this.takeParts();
    if (parts.length === 1) return parts[0];
    const all = new Array<unknown>(this.#length);
    let next = 0;
    for (const part of parts) {
      for (let i = 0; i < part.length; i++) all[next++] = part[i];
    }
    return all;
  }

  /** Removes all chunks: requests stay pending, and the size of the batch counts until they settle. */
  drain(): unknown[] {
    const chunks = this.takeChunks();
    this.#parts = [];
    this.#length = 0;
    return chunks;
  }

  #openPart(): void {
    this.#openLength = 0;
    this.#openRoom = this.#length === 0 ? SMALL_PART : ARRAY_LENGTH;
    this.#parts.push(this.#open = this.#length === 0 ? [] : acquireArray());
  }

  #closePart(): void {
    if (this.#open.length > this.#openLength) this.#open.length = this.#openLength;
    this.#open = NONE;
    this.#openLength = this.#openRoom = 0;
  }

  /** Adds the request of a pipe, once for all the chunks that it writes to this batch. */
  addPipe(request: WriteRequest): void {
    const pipes = this.#pipes;
    if (pipes.length > 0 && pipes[pipes.length - 1] === request) request.resolve();
    else pipes.push(request);
  }

  resolve(): void {
    this.#deferred?.resolve();
    for (const request of this.#pipes) request.resolve();
    this.#owner.batchWritten(this);
  }

  reject(reason: unknown): void {
    this.#deferred?.reject(reason);
    for (const request of this.#pipes) request.reject(reason);
  }
}

/** Captured once, like all functions that streams depend on, so that faked timers do not stop them. */
export const setTimeout: GlobalFunctions["setTimeout"] = globalFunction("setTimeout")!;
export const clearTimeout: GlobalFunctions["clearTimeout"] = globalFunction("clearTimeout")!;

/** The delay of a batch after its first chunk, measured only by a timer, since tests fake clocks, too. */
export class BatchDelay {
  readonly #delay: number;
  readonly #onOver: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** @param onOver Called when the delay of the batch is over. */
  constructor(delay: number, onOver: () => void) {
    this.#delay = delay;
    this.#onOver = onOver;
  }

  /** Whether `onOver` is going to be called; otherwise the delay of the batch is over. */
  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Starts the delay, with the first chunk of a batch. */
  begin(): void {
    this.end();
    if (this.#delay === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#onOver();
    }, this.#delay);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The share of the queue that a long pipe must add between two pauses for its batch to wait. */
const SHARE = 1 / 8;

/** The detection of a producer that is faster than the sink: the next batch then starts once the queue is full, or a turn adds no chunk. */
export class ProducerThrottle {
  /** Whether the queue was full when the last batch ended, and each turn since then has added to it. */
  #isFilling = false;
  /** The queue's size at the last call. */
  #queued = 0;
  /** The number of the last pause of long pipes for which a batch waited. */
  #pause = 0;
  /** The queue's size at that pause, or after the last batch. */
  #queuedAtPause = 0;

  /** Notes that a batch was passed to the sink. */
  batchGiven(isFull: boolean): void {
    this.#isFilling = isFull;
  }

  /** Notes that the queue is full. */
  mustWait(): void {
    this.#isFilling = true;
  }

  /** Notes that the batch is written while `queued` is in the queue; returns whether the producer had to wait for that. */
  batchWritten(queued: number): boolean {
    this.#queuedAtPause = this.#queued = queued;
    return this.#isFilling;
  }

  /** Called at the end of a turn with the queue's size; returns whether the producer is filling the queue again. */
  isFilling(queued: number): boolean {
    this.#isFilling &&= queued > this.#queued;
    this.#queued = queued;
    return this.#isFilling;
  }

  /** Called at the end of a turn; returns whether a long pipe that may yet fill the queue is in a pause. */
  isPaused(queued: number, highWaterMark: number): boolean {
    const pause = currentPause();
    if (pause === 0) return false;
    if (pause === this.#pause) return true;
    if (queued - this.#queuedAtPause < highWaterMark * SHARE) return false;
    this.#pause = pause;
    this.#queuedAtPause = queued;
    return true;
  }
}
