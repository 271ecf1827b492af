import { globalFunction } from "#streams/host";
import { checkedSize } from "../../queuing/chunk_queue.ts";
import type { DefaultControllerState } from "../../readable/default_controller_state.ts";
import { pullRun, type RunningPipe } from "../../readable/pull_run.ts";
import { ARRAY_LENGTH, dequeueSome } from "../../shortcuts/chunk_array_queue.ts";
import { atEndOfTurn } from "../../shortcuts/end_of_turn.ts";
import { currentPause } from "../../shortcuts/task.ts";
import {
  type SinkAlgorithms,
  updateBackpressure,
  type WritableControllerState,
  writableStreamDefaultControllerAdvanceQueueIfNeeded,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../controller_state.ts";
import { writableStreamAddWriteRequest, type WriteRequest } from "../stream_state.ts";
import { Batch, type Batching, type BatchOwner } from "./batch.ts";
import type { BatchedSinkAlgorithms } from "./batched_sink.ts";

/** Taken once, as for all that streams depend on: faked timers do not stop them. */
const [setTimeout, clearTimeout] = [globalFunction("setTimeout")!, globalFunction("clearTimeout")!];
/** Timers of Node and Bun may be early by less than that, in ms. */
const EXACTNESS = 0.5;

/** The time that the first chunk of a batch waits for others. */
export class BatchDelay {
  readonly #delay: number;
  readonly #onOver: () => void;
  /** When the batch that grows is due, in ms as of performance.now(). */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** @param onOver Called when the time of a batch is over that was asked for. */
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

  /** All batches were given to the sink. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The least time, in ms, that a producer is given to fill the queue. */
const LEAST = 1;
/** The share of the queue that a long pipe has to add from one pause to the next, if its batch is to wait for it. */
const SHARE = 1 / 8;

/**
 * A producer that had to wait for the sink: it gets the time to fill the queue again before the next batch starts. It
 * counts as filling while it adds something each turn, for as long as the last batch took.
 */
export class OutrunningProducer {
  /** Whether the queue was full before the last batch was done with. */
  #hadToWait = false;
  #batchGivenAt = 0;
  #until = 0;
  /** How much was queued when that was last asked. */
  #queued = 0;
  /** The last pause of long pipes that was waited for, and how much was queued then, or when the last batch was written. */
  #pause = 0;
  #queuedAtPause = 0;

  /** A batch was given to the sink. */
  batchGiven(isFull: boolean): void {
    this.#hadToWait = isFull;
    this.#batchGivenAt = performance.now();
  }

  /** The queue is full. */
  mustWait(): void {
    this.#hadToWait = true;
  }

  /** The batch is written, with so much queued behind it; returns whether the producer had to wait for that. */
  batchWritten(queued: number): boolean {
    this.#queuedAtPause = queued;
    if (!this.#hadToWait) return false;
    const now = performance.now();
    this.#until = now + Math.max(LEAST, now - this.#batchGivenAt);
    this.#queued = queued;
    return true;
  }

  /** At the end of a turn: whether the producer is filling the queue again, with so much in it by now. */
  isFilling(queued: number): boolean {
    this.#hadToWait = this.#hadToWait && queued > this.#queued && performance.now() < this.#until;
    this.#queued = queued;
    return this.#hadToWait;
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

/**
 * How a stream queues chunks for a sink that takes batches; and the sink that the rest of the stream sees, which passes
 * the batches on.
 *
 * A batch starts when the queue is full or the stream is closing, else at the end of the turn: so a producer that goes
 * on when the last batch has ended can fill the queue again first. Without that wait, one small batch would leave the
 * next one room for little more than the rest of the queue, and small and large ones would take turns for ever. For the
 * same reason the wait is longer where a producer has shown to be faster than the sink.
 */
export class BatchedWrites implements Batching, BatchOwner, SinkAlgorithms {
  readonly #sink: BatchedSinkAlgorithms;
  readonly #maxBatch: number;
  /** As much of the open batch that it does not wait for more. */
  readonly #enough: number;
  /** For sinks that have batches wait for a time. */
  readonly #delay: BatchDelay | undefined;
  #controller: WritableControllerState = undefined as never; // set by attach()
  /** The last batch of the queue, which grows. */
  #open: Batch | undefined = undefined;
  #awaitsEndOfTurn = false;
  /** Whether what is queued is to be written without a wait for more. */
  #isUrgent = false;
  readonly #producer = new OutrunningProducer();
  /** Whether a pipe will close the stream when all that is queued is written. */
  #closes = false;

  constructor(sink: BatchedSinkAlgorithms) {
    this.#sink = sink;
    this.#maxBatch = sink.maxBatch;
    this.#enough = sink.minBatch;
    if (sink.maxDelay !== undefined) this.#delay = new BatchDelay(sink.maxDelay, this.#onDelay);
  }

  attach(controller: WritableControllerState): void {
    this.#controller = controller;
    controller.batching = this;
  }

  enqueue(chunk: unknown, size: number): Promise<void> {
    const batch = this.#batchFor(size);
    const { promise } = batch;
    this.#add(batch, chunk, size);
    return promise;
  }

  enqueueForPipe(chunk: unknown, size: number, request: WriteRequest): void {
    const batch = this.#batchFor(size);
    batch.addPipe(request);
    this.#add(batch, chunk, size);
  }

  drain(): unknown[] {
    const { queue } = this.#controller;
    const chunks: unknown[] = [];
    for (let rest = queue.length; rest > 0; rest--) {
      const batch = queue.shift() as Batch; // and back again: its size is not touched
      queue.push(batch);
      for (const chunk of batch.drain()) chunks.push(chunk);
    }
    return chunks;
  }

  moveForPipe(source: DefaultControllerState, pipe: RunningPipe & WriteRequest): boolean {
    if (!source.hasBuffered) return this.#pullForPipe(source, pipe);
    const { queue } = this.#controller;
    const batch = this.#batchFor(1);
    batch.addPipe(pipe);
    for (let room = this.#room(); room > 0 && source.hasBuffered;) {
      const some = dequeueSome(source.queue, room);
      room -= some.length;
      batch.addAll(some);
      queue.totalSize += some.length;
    }
    source.afterDequeue(); // may pull, as it does after a read
    this.#advance();
    return true;
  }

  #pullForPipe(source: DefaultControllerState, pipe: RunningPipe & WriteRequest): boolean {
    // Not into the open batch, which may start meanwhile: the iterator's code may end the pipe.
    const run = pullRun(source, Math.min(this.#room(), ARRAY_LENGTH), pipe);
    if (run.length === 0) return false;
    const { stream, queue } = this.#controller;
    if (stream.state !== "writable") {
      pipe.reject(stream.storedError);
      return true;
    }
    const batch = this.#batchFor(1);
    batch.addPipe(pipe);
    batch.addAll(run);
    queue.totalSize += run.length;
    this.#advance();
    return true;
  }

  /** How many chunks of size 1 the queue and the open batch have room for; at least one. */
  #room(): number {
    const { queue, highWaterMark } = this.#controller;
    const ofBatch = this.#maxBatch - (this.#open?.size ?? 0);
    return Math.max(1, Math.min(Math.ceil(highWaterMark - queue.totalSize), Math.floor(ofBatch)));
  }

  isDue(): boolean {
    const { stream, queue, highWaterMark } = this.#controller;
    if (this.#isUrgent || queue.length > 1 || stream.closeRequest !== undefined) return true;
    if (queue.totalSize >= highWaterMark || this.#open!.size >= this.#enough) return true;
    if (this.#delay !== undefined) return this.#delay.isOver();
    if (!this.#awaitsEndOfTurn) this.#awaitEndOfTurn();
    return false;
  }

  #awaitEndOfTurn(): void {
    this.#awaitsEndOfTurn = true;
    atEndOfTurn(this.#onEndOfTurn);
  }

  hurry(closes: boolean): void {
    if (closes) this.#closes = true;
    if (this.#controller.queue.length === 0) return;
    this.#isUrgent = true;
    writableStreamDefaultControllerAdvanceQueueIfNeeded(this.#controller);
  }

  readonly #onEndOfTurn = (): void => {
    this.#awaitsEndOfTurn = false;
    // What waits behind a batch in flight has its own wait when that has ended.
    if (this.#controller.stream.inFlightWriteRequest !== undefined) return;
    const { queue, highWaterMark } = this.#controller;
    const isFilling = this.#producer.isPaused(queue.totalSize, highWaterMark) ||
      this.#producer.isFilling(queue.totalSize);
    if (isFilling) this.#awaitEndOfTurn();
    else this.hurry(false);
  };

  readonly #onDelay = (): void => {
    if (this.#controller.stream.inFlightWriteRequest === undefined) this.hurry(false);
  };

  batchWritten(batch: Batch): void {
    if (this.#delay !== undefined) return; // what waits has its own time
    const hadToWait = this.#producer.batchWritten(this.#controller.queue.totalSize - batch.size);
    if (hadToWait && !this.#awaitsEndOfTurn) this.#awaitEndOfTurn();
  }

  /** The batch for a chunk of that size: the one that grows, unless it has no room for it. */
  #batchFor(size: number): Batch {
    const open = this.#open;
    if (open !== undefined && open.size + size <= this.#maxBatch) return open;
    const batch = this.#open = new Batch(this);
    this.#delay?.begin();
    writableStreamAddWriteRequest(this.#controller.stream, batch);
    this.#controller.queue.push(batch); // its size is added as it grows
    return batch;
  }

  #add(batch: Batch, chunk: unknown, size: number): void {
    if (size !== 1 && !this.#isSize(size)) return;
    const { queue, highWaterMark } = this.#controller;
    batch.add(chunk, size);
    queue.totalSize += size;
    // Whoever has looked in this turn need not look again before the queue, this batch or the one before it is full.
    if (!this.#awaitsMore || queue.totalSize >= highWaterMark || batch.size >= this.#enough || queue.length > 1) {
      this.#advance();
    }
  }

  /** Whether somebody has looked at the open batch, and it waits. */
  get #awaitsMore(): boolean {
    return this.#awaitsEndOfTurn || (this.#delay !== undefined && this.#delay.isRunning);
  }

  #isSize(size: number): boolean {
    try {
      checkedSize(size);
      return true;
    } catch (error) {
      writableStreamDefaultControllerErrorIfNeeded(this.#controller, error);
      return false;
    }
  }

  #advance(): void {
    updateBackpressure(this.#controller);
    if (this.#controller.stream.backpressure) this.#producer.mustWait();
    writableStreamDefaultControllerAdvanceQueueIfNeeded(this.#controller);
  }

  write(chunk: unknown): unknown {
    const batch = chunk as Batch;
    const { queue, stream } = this.#controller;
    queue.takenSize = batch.size;
    if (queue.length > 0) return this.#sink.writev(batch, false);
    this.#open = undefined;
    this.#isUrgent = false;
    this.#delay?.end();
    this.#producer.batchGiven(stream.backpressure);
    return this.#sink.writev(batch, this.#closes || stream.closeRequest !== undefined);
  }

  end(): void {
    this.#delay?.end();
  }

  close(): unknown {
    return this.#sink.close();
  }

  abort(reason: unknown): unknown {
    return this.#sink.abort(reason);
  }
}
