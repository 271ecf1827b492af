import { globalFunction } from "#streams/host";
import { Deferred } from "../../language/promises.ts";
import type { DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { RunningPipe } from "../../readable/pull_run.ts";
import { acquireArray, ARRAY_LENGTH } from "../../shortcuts/chunk_array_queue.ts";
import { currentPause } from "../../shortcuts/task.ts";
import type { WriteRequest } from "../stream_state.ts";

/** The queue's side of a sink of batches. A batch is one growing chunk and one request to the queue. */
export interface Batching {
  /** Adds a chunk that a writer wrote; returns the promise of its batch. A size that is none errors the stream. */
  enqueue(chunk: unknown, size: number): Promise<void>;
  /** Adds a chunk that a pipe wrote. */
  enqueueForPipe(chunk: unknown, size: number, request: WriteRequest): void;
  /** Moves chunks of size 1 from a source for a pipe while there is room; returns whether there were any. */
  moveForPipe(source: DefaultControllerState, pipe: RunningPipe & WriteRequest): boolean;
  /** Takes all chunks out of the batches that wait, in order; what waits for these goes on to wait. */
  drain(): unknown[];
  /** Whether the first batch that waits is to be written now; if not, it will be when the current turn ends. */
  isDue(): boolean;
  /** Has what waits written now, as no more is to come; `closes` tells whether the stream will be closed then. */
  hurry(closes: boolean): void;
  /** No batch will start any more. */
  end(): void;
}

/**
 * Chunks that come many at once stay in their array if they are so many. As many that come alone get one that grows; more
 * of them get arrays that do not, since one that does leaves twice its own size as garbage.
 */
const SMALL_PART = 64;
const NONE: unknown[] = [];

/** The owner of a batch, notified when it has been written. */
export interface BatchOwner {
  batchWritten(batch: Batch): void;
}

/** The chunks that one `writev()` gets, and what waits for it. */
export class Batch implements WriteRequest {
  readonly #owner: BatchOwner;
  /** The sum of the chunks' sizes. */
  size = 0;
  #length = 0;
  /** The chunks, in arrays that are put together when all of them are there: to append one to the other copies more. */
  #parts: unknown[][] = [];
  /** The last part, if it has room for chunks that come alone, and how many it holds of how many. */
  #open: unknown[] = NONE;
  #openLength = 0;
  #openRoom = 0;
  /** The deferred of all `write()` promises of this batch, which settle alike. */
  #deferred: Deferred<void> | undefined = undefined;
  /** The pipes that wrote some of the chunks; few batches have more than one. */
  readonly #pipes: WriteRequest[] = [];

  constructor(owner: BatchOwner) {
    this.#owner = owner;
  }

  /** Whether no `write()` promise exists, so that the end of a synchronous sink may be immediate. */
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

  /** Adds chunks of size 1; the list is not to be used again. */
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

  /** All chunks, in arrays without another user. */
  takeParts(): unknown[][] {
    this.#closePart();
    return this.#parts;
  }

  /** All chunks, in one such array. */
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

  /** Takes all chunks out: what waits for the batch goes on to wait, and its size counts until then. */
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

  /** Adds the request of a pipe, which waits once for all that it writes here. */
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

/** Taken once, as for all that streams depend on: faked timers do not stop them. */
const [setTimeout, clearTimeout] = [globalFunction("setTimeout")!, globalFunction("clearTimeout")!];
/** Timers of Node and Bun may be early by less than that, in ms. */
const EXACTNESS = 0.5;

/** The time that the first chunk of a batch waits for others. */
export class BatchDelay {
  readonly #delay: number;
  readonly #onOver: () => void;
  /** The time at which the growing batch is due, in ms as of performance.now(). */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** @param onOver Called when the time of the requested batch is over. */
  constructor(delay: number, onOver: () => void) {
    this.#delay = delay;
    this.#onOver = onOver;
  }

  /** Whether `onOver` is going to be called. */
  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** A batch gets its first chunk. */
  begin(): void {
    this.#due = performance.now() + this.#delay;
  }

  /** Whether the batch has waited for long enough; if not, `onOver` will be called. */
  isOver(): boolean {
    if (this.isRunning) return false;
    const rest = this.#due - performance.now();
    if (rest < EXACTNESS) return true;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.isOver()) this.#onOver();
    }, Math.ceil(rest));
    return false;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The share of the queue that a long pipe has to add from one pause to the next, if its batch is to wait for it. */
const SHARE = 1 / 8;

/** A producer faster than the sink: the next batch starts when the queue is full, or a turn has added nothing. */
export class OutrunningProducer {
  /** Whether the queue was full before the last batch was done with, and each turn since then has added to it. */
  #isFilling = false;
  /** The queue's size at the last call. */
  #queued = 0;
  /** The last pause of long pipes that was waited for, and how much was queued then, or when the last batch was written. */
  #pause = 0;
  #queuedAtPause = 0;

  /** A batch was given to the sink. */
  batchGiven(isFull: boolean): void {
    this.#isFilling = isFull;
  }

  /** The queue is full. */
  mustWait(): void {
    this.#isFilling = true;
  }

  /** The batch is written, with so much queued behind it; returns whether the producer had to wait for that. */
  batchWritten(queued: number): boolean {
    this.#queuedAtPause = this.#queued = queued;
    return this.#isFilling;
  }

  /** At the end of a turn: whether the producer is filling the queue again, with so much in it by now. */
  isFilling(queued: number): boolean {
    this.#isFilling &&= queued > this.#queued;
    this.#queued = queued;
    return this.#isFilling;
  }

  /** At the end of a turn: whether a long pipe makes a pause, that may be the one that fills the queue. */
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
