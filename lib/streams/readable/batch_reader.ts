import { lockedError, mustBe } from "../language/errors.ts";
import { Deferred, queueReaction } from "../language/promises.ts";
import { isNativeReadableStream, isNativeReadableStreamLocked } from "../language/native_classes.ts";
import { NativeReadableEnd } from "../native/ends/native_ends.ts";
import { type BatchLimits, type BatchReader, type BatchRequest, GatheredBatch } from "../queuing/read_batch.ts";
import { DefaultControllerState } from "./default_controller_state.ts";
import { checkReadableStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import { pullRunInto } from "./pull_run.ts";
import {
  DefaultReaderState,
  disturb,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
  type ReadableStreamState,
  type ReadRequest,
} from "./stream_state.ts";

/** Locks a stream, of this package or native. `leavesRest`: chunks that were not taken stay for other readers. */
export function acquireBatchReader(stream: unknown, limits: BatchLimits, leavesRest: boolean): BatchReader {
  const state = readableStreamStateOf(stream);
  if (state !== undefined) {
    checkReadableStreamFree(state, "read batches of it");
    return new StateBatchReader(state, limits);
  }
  if (!isNativeReadableStream(stream)) throw mustBe("the stream", "a ReadableStream");
  if (isNativeReadableStreamLocked(stream)) throw lockedError("read batches of it");
  const end = new NativeReadableEnd(stream);
  return new StateBatchReader(end.acquire(), leavesRest ? { ...limits, maxChunks: 1 } : limits, end);
}

/** A reader whose reads and promise user code cannot observe. */
class BatchReaderState extends DefaultReaderState {
  override readonly mostPullsAtOnce = 64;
  override released(): void {} // as in PipeReaderState
}

/** The reader of a state, and its own only read request, which is pending while the batch has room. */
class StateBatchReader implements BatchReader, ReadRequest {
  readonly #stream: ReadableStreamState;
  readonly #limits: BatchLimits;
  /** The native stream behind the state, whose queue is not accessible. */
  readonly #end: NativeReadableEnd | undefined;
  readonly #reader = new BatchReaderState();
  #request: BatchRequest | undefined;
  #batch: GatheredBatch | undefined;
  /** Whether a microtask is queued that checks whether the batch is complete. */
  #isWatched = false;
  /** The promise of the chunks that a pending read of a native stream may get after the release. */
  #rest: Deferred<unknown[] | undefined> | undefined;

  constructor(stream: ReadableStreamState, limits: BatchLimits, end?: NativeReadableEnd) {
    this.#stream = stream;
    this.#limits = limits;
    this.#end = end;
    readableStreamReaderGenericInitialize(this.#reader, stream);
  }

  take(): unknown[] | undefined {
    const { controller, state } = this.#stream;
    if (state !== "readable") return undefined;
    disturb(this.#stream);
    const batch = this.#batch = new GatheredBatch(this.#limits);
    if (controller.hasBuffered) this.#takeQueued(batch);
    else if (controller instanceof DefaultControllerState) pullRunInto(controller, batch, this);
    if (batch.chunks.length === 0 || (this.wantsChunks && controller.pulling)) return undefined;
    this.#batch = undefined;
    return batch.chunks;
  }

  read(request: BatchRequest): void {
    const batch = this.#batch ??= new GatheredBatch(this.#limits);
    this.#request = request;
    if (batch.chunks.length > 0) this.#watch();
    this.#ask(batch);
  }

  /** Called by `enqueue()`, which pulls after this returns. A default controller's queue is empty then. */
  chunkSteps(chunk: unknown): void {
    const batch = this.#batch ??= new GatheredBatch(this.#limits);
    batch.add(chunk);
    if (this.#rest !== undefined) return this.#rest.resolve(this.#unlock());
    this.#watch();
    if (batch.hasRoom && this.#stream.controller instanceof DefaultControllerState) this.#reader.requests.push(this);
    else this.#ask(batch);
  }

  closeSteps(): void {
    if (this.#rest !== undefined) this.#rest.resolve(this.#unlock());
    else if (!this.#give()) this.#takeRequest()?.closeSteps();
  }

  errorSteps(error: unknown): void {
    if (this.#rest !== undefined) this.#rest.resolve(this.#unlock());
    else if (!this.#give()) this.#takeRequest()?.errorSteps(error);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#end?.cancel(reason) ?? readableStreamReaderGenericCancel(this.#reader, reason);
  }

  release(): unknown[] | Promise<unknown[] | undefined> | undefined {
    this.#request = undefined;
    const { controller, state } = this.#stream;
    if (this.#end === undefined || !controller.pulling || state !== "readable") return this.#unlock();
    this.#rest = new Deferred();
    if (this.#reader.requests.length === 0) this.#reader.requests.push(this);
    this.#end.release(); // the pending read fails, unless its chunk is about to arrive
    return this.#rest.promise;
  }

  #unlock(): unknown[] | undefined {
    const batch = this.#batch;
    this.#batch = undefined;
    readableStreamReaderRelease(this.#reader);
    if (this.#rest === undefined) this.#end?.release();
    return batch !== undefined && batch.chunks.length > 0 ? batch.chunks : undefined;
  }

  /** Whether the batch has room; false once the source's code, called for a chunk, has released the stream. */
  get wantsChunks(): boolean {
    return this.#batch?.hasRoom === true && this.#stream.state === "readable";
  }

  /** Takes the queued chunks, and requests more if the batch has room. */
  #ask(batch: GatheredBatch): void {
    this.#takeQueued(batch);
    if (!batch.hasRoom) this.#give();
    else if (this.#request !== undefined) readableStreamDefaultReaderRead(this.#reader, this);
  }

  /** Takes the queued chunks, and those that the source queues meanwhile. */
  #takeQueued(batch: GatheredBatch): void {
    const { controller } = this.#stream;
    while (controller.hasBuffered && this.#batch?.hasRoom) {
      if (controller instanceof DefaultControllerState) moveBuffered(controller, batch);
      else batch.add(controller.readBuffered());
    }
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    queueReaction(this.#onMicrotask);
  }

  readonly #onMicrotask = (): void => {
    this.#isWatched = false;
    const batch = this.#batch;
    if (batch === undefined || batch.chunks.length === 0 || this.#request === undefined) return;
    if (this.#stream.controller.pulling && !batch.waitsNoLonger()) this.#watch();
    else this.#give();
  };

  /** Completes the request with the batch, if it has chunks, and withdraws the pending read. */
  #give(): boolean {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch === undefined || batch.chunks.length === 0) return false;
    const { requests } = this.#reader;
    if (requests.length > 0) {
      this.#stream.controller.releaseSteps();
      requests.clear();
    }
    this.#takeRequest()!.batchSteps(batch.chunks);
    return true;
  }

  #takeRequest(): BatchRequest | undefined {
    const request = this.#request;
    this.#request = undefined;
    return request;
  }
}

/** Moves chunks to a batch while that has room, as unobservable reads would, and pulls after the last one. */
function moveBuffered(controller: DefaultControllerState, batch: GatheredBatch): void {
  const { queue } = controller;
  while (queue.length > 0 && batch.hasRoom) batch.add(queue.dequeue());
  controller.afterDequeue();
}
