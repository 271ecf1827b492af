import { refuseMisspelt } from "#streams/suggestion";
import { endedError } from "../../language/errors.ts";
import { promiseRejectedWith } from "../../language/promises.ts";
import { passState, toObject } from "../../language/webidl.ts";
import { writableStreamStateOf } from "../../native/feeds/writable_feed.ts";
import { checkedSize, extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../../queuing/chunk_queue.ts";
import type { DefaultControllerState } from "../../readable/default_controller_state.ts";
import { pullRun, type RunningPipe } from "../../readable/pull_run.ts";
import { ARRAY_LENGTH, dequeueSome } from "../../shortcuts/chunk_array_queue.ts";
import { atEndOfTurn } from "../../shortcuts/end_of_turn.ts";
import {
  createWritableStream,
  type SinkAlgorithms,
  startWritableStreamDefaultController,
  updateBackpressure,
  type WritableControllerState,
  writableStreamDefaultControllerAdvanceQueueIfNeeded,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../controller_state.ts";
import { isClosingOrClosed, writableStreamAddWriteRequest, type WriteRequest } from "../stream_state.ts";
import { WritableStreamDefaultController } from "../underlying_sink.ts";
import { Batch, BatchDelay, type Batching, type BatchOwner, ProducerThrottle } from "./batch.ts";
import { BatchedSinkAlgorithms } from "./batched_sink.ts";

/**
 * The queue of a stream whose sink takes batches, and the sink that the controller calls, which passes the batches on.
 *
 * A batch starts when the queue is full or the stream is closing, otherwise at the end of the turn. In that time, a
 * producer that resumes after the last batch can fill the queue again. Without the wait, small and large batches would
 * alternate for ever, since a small batch leaves the next one little more room than the rest of the queue. For the same
 * reason the wait is longer after a producer has been faster than the sink.
 */
export class BatchedWrites implements Batching, BatchOwner, SinkAlgorithms {
  readonly #sink: BatchedSinkAlgorithms;
  readonly #maxBatch: number;
  /** The size from which the open batch is not delayed. */
  readonly #enough: number;
  readonly #delay: BatchDelay | undefined;
  #controller: WritableControllerState = undefined as never; // set by attach()
  /** The last batch of the queue, which still grows. */
  #open: Batch | undefined = undefined;
  #awaitsEndOfTurn = false;
  /** Whether queued chunks are to be written without waiting for more. */
  #isUrgent = false;
  readonly #producer = new ProducerThrottle();
  /** Whether a pipe will close the stream once all queued chunks are written. */
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
      const batch = queue.shift() as Batch; // taken out and put back, so that its size does not change
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
    // Pulled to an array before the open batch is chosen: the iterator's code may end the pipe, which starts that batch.
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

  /** Returns the room of the queue and the open batch in chunks of size 1; at least one. */
  #room(): number {
    const { queue, highWaterMark } = this.#controller;
    const ofBatch = this.#maxBatch - (this.#open?.size ?? 0);
    return Math.max(1, Math.min(Math.ceil(highWaterMark - queue.totalSize), Math.floor(ofBatch)));
  }

  isDue(): boolean {
    const { stream, queue, highWaterMark } = this.#controller;
    if (this.#isUrgent || queue.length > 1 || stream.closeRequest !== undefined) return true;
    if (queue.totalSize >= highWaterMark || this.#open!.size >= this.#enough) return true;
    if (this.#delay !== undefined) return !this.#delay.isRunning;
    if (!this.#awaitsEndOfTurn) this.#awaitEndOfTurn();
    return false;
  }

  #awaitEndOfTurn(): void {
    this.#awaitsEndOfTurn = true;
    atEndOfTurn(this.#onEndOfTurn);
  }

  hurry(closes?: boolean): void {
    if (closes) this.#closes = true;
    if (this.#controller.queue.length === 0) return;
    this.#isUrgent = true;
    writableStreamDefaultControllerAdvanceQueueIfNeeded(this.#controller);
  }

  readonly #onEndOfTurn = (): void => {
    this.#awaitsEndOfTurn = false;
    // Chunks behind a batch in flight begin their own delay when that batch has ended.
    if (this.#controller.stream.inFlightWriteRequest !== undefined) return;
    const { queue, highWaterMark } = this.#controller;
    const isFilling = this.#producer.isPaused(queue.totalSize, highWaterMark) ||
      this.#producer.isFilling(queue.totalSize);
    if (isFilling) this.#awaitEndOfTurn();
    else this.hurry();
  };

  readonly #onDelay = (): void => {
    if (this.#controller.stream.inFlightWriteRequest === undefined) this.hurry();
  };

  batchWritten(batch: Batch): void {
    if (this.#delay !== undefined) return; // queued chunks have their own delay
    const hadToWait = this.#producer.batchWritten(this.#controller.queue.totalSize - batch.size);
    if (hadToWait && !this.#awaitsEndOfTurn) this.#awaitEndOfTurn();
  }

  /** Returns the batch for a chunk of that size: the open one, or a new one if that has no room. */
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
    try {
      if (size !== 1) checkedSize(size);
    } catch (error) {
      writableStreamDefaultControllerErrorIfNeeded(this.#controller, error);
      return;
    }
    const { queue, highWaterMark } = this.#controller;
    batch.add(chunk, size);
    queue.totalSize += size;
    // The check runs once a turn, or delay, until the queue, this batch or the one before it is full.
    const awaitsMore = this.#awaitsEndOfTurn || this.#delay?.isRunning === true;
    if (!awaitsMore || queue.totalSize >= highWaterMark || batch.size >= this.#enough || queue.length > 1) {
      this.#advance();
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
    this.#sink.end();
  }

  close(): unknown {
    return this.#sink.close();
  }

  abort(reason: unknown): unknown {
    return this.#sink.abort(reason);
  }
}

/** Passes the state of a stream whose sink takes batches to the constructor of WritableStream, which the caller calls next. */
export function giveBatchedState(underlyingSink: unknown, strategy: unknown, highWaterMark: number): void {
  if (underlyingSink !== undefined) toObject(underlyingSink, "the underlying sink");
  const queuing = toStrategy(strategy);
  refuseMisspelt("the strategy", strategy);
  const sink = new BatchedSinkAlgorithms(underlyingSink);
  const writes = new BatchedWrites(sink);
  const size = extractSizeAlgorithm(queuing);
  const state = createWritableStream(writes, extractHighWaterMark(queuing, highWaterMark), size);
  writes.attach(state.controller);
  passState(state.controller);
  startWritableStreamDefaultController(state.controller, sink.callStart(new WritableStreamDefaultController()));
  passState(state);
}

/** Queues an internal chunk of size 0 even if the stream is locked, and writes all queued chunks; settles with their batch. */
export function writeAsOwner(stream: object, chunk: unknown): Promise<void> {
  const state = writableStreamStateOf(stream)!;
  if (state.state === "erroring" || state.state === "errored") return promiseRejectedWith(state.storedError);
  const { batching } = state.controller;
  if (batching === undefined || isClosingOrClosed(state)) {
    return promiseRejectedWith(endedError("write to", "closed"));
  }
  const written = batching.enqueue(chunk, 0);
  batching.hurry();
  return written;
}

/** Removes and returns all queued chunks, in order, for a sink that writes them now. Their promises stay pending. */
export function drainBatches(stream: object): unknown[] {
  const { state, controller } = writableStreamStateOf(stream)!;
  if (state !== "writable" || controller.batching === undefined) return [];
  return controller.batching.drain();
}
