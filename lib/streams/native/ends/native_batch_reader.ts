import { isTunedToBun } from "#streams/host";
import { NativePromise, promiseRejectedWith, queueReaction, react } from "../../language/promises.ts";
import { type ManyChunks, nativeGetReader, nativeReader, nativeReadMany } from "../../language/native_classes.ts";
import { type BatchLimits, type BatchReader, type BatchRequest, GatheredBatch } from "../../queuing/read_batch.ts";

/**
 * The reader of a native stream, whose queue is hidden: as long as the batch has room, a read is pending, and one that
 * is not served soon begins the next batch. On Bun, `readMany()` replaces this.
 */
export class NativeBatchReader implements BatchReader {
  readonly #limits: BatchLimits;
  readonly #readsAhead: boolean;
  readonly #reader: globalThis.ReadableStreamDefaultReader;
  #request: BatchRequest | undefined;
  #batch: GatheredBatch;
  #isReading = false;
  /** Called with the chunk of the read that was pending at the release. */
  #onRest: ((rest: unknown[] | undefined) => void) | undefined;
  #isWatched = false;
  /** The chunks that `readMany()` gave beyond the limits of a batch, from `#nextRest` on. */
  #rest: unknown[] = [];
  #nextRest = 0;
  #end: { readonly failure?: { readonly error: unknown } } | undefined;

  constructor(stream: globalThis.ReadableStream, limits: BatchLimits, leavesRest: boolean) {
    this.#limits = limits;
    this.#readsAhead = !leavesRest;
    this.#reader = nativeGetReader.call(stream) as globalThis.ReadableStreamDefaultReader;
    this.#batch = new GatheredBatch(limits);
  }

  take(): unknown[] | undefined {
    const batch = this.#batch;
    if (batch.chunks.length > 0) return undefined; // the read that was under way has begun it
    const mayAsk = this.#readsAhead && this.#end === undefined && !this.#isReading;
    if (isTunedToBun && this.#nextRest === this.#rest.length && mayAsk) this.#readMany();
    this.#addRest(batch);
    if (batch.chunks.length === 0 || (batch.hasRoom && this.#end === undefined)) return undefined;
    this.#batch = new GatheredBatch(this.#limits);
    return batch.chunks;
  }

  read(request: BatchRequest): void {
    this.#request = request;
    this.#goOn();
  }

  cancel(reason: unknown): Promise<void> {
    return nativeReader.cancel.call(this.#reader, reason);
  }

  release(): unknown[] | Promise<unknown[] | undefined> | undefined {
    this.#request = undefined;
    this.#end ??= {};
    nativeReader.releaseLock.call(this.#reader);
    return this.#isReading ? new NativePromise((resolve) => this.#onRest = resolve) : this.#gathered();
  }

  #gathered(): unknown[] | undefined {
    const { chunks } = this.#batch;
    return chunks.length > 0 ? chunks : undefined;
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    this.#isReading = false;
    if (done) this.#end ??= {};
    else this.#batch.add(value);
    this.#settled(); // if no request waits, the next batch begins with it
  };

  readonly #onError = (error: unknown): void => {
    this.#isReading = false;
    this.#end ??= { failure: { error } };
    this.#settled();
  };

  #settled(): void {
    if (this.#request !== undefined) this.#goOn();
    else this.#onRest?.(this.#gathered());
  }

  /** Completes the batch or the request, or reads on. */
  #goOn(): void {
    const { chunks, hasRoom } = this.#batch;
    if (chunks.length > 0 && (!hasRoom || !this.#readsAhead || this.#end !== undefined)) return this.#give();
    if (this.#end !== undefined) return this.#tellEnd();
    if (chunks.length > 0) this.#watch();
    if (this.#isReading) return;
    this.#isReading = true;
    react(nativeReader.read.call(this.#reader), this.#onRead, this.#onError);
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    queueReaction(this.#onMicrotask);
  }

  readonly #onMicrotask = (): void => {
    this.#isWatched = false;
    if (this.#request === undefined || this.#batch.chunks.length === 0) return;
    if (this.#batch.waitsNoLonger()) this.#give();
    else this.#watch();
  };

  #give(): void {
    const request = this.#request!;
    const { chunks } = this.#batch;
    this.#request = undefined;
    this.#batch = new GatheredBatch(this.#limits);
    request.batchSteps(chunks);
  }

  #tellEnd(): void {
    const request = this.#request!;
    const { failure } = this.#end!;
    this.#request = undefined;
    if (failure === undefined) request.closeSteps();
    else request.errorSteps(failure.error);
  }

  #readMany(): void {
    let result: ManyChunks | Promise<ManyChunks>;
    try {
      result = nativeReadMany!.call(this.#reader);
    } catch (error) {
      result = promiseRejectedWith(error);
    }
    if (!(result instanceof NativePromise)) return this.#setRest(result);
    this.#isReading = true;
    react(result, this.#onMany, this.#onError);
  }

  readonly #onMany = (result: ManyChunks): void => {
    this.#isReading = false;
    this.#setRest(result);
    this.#addRest(this.#batch);
    this.#settled();
  };

  #setRest({ done, value }: ManyChunks): void {
    this.#rest = value;
    this.#nextRest = 0;
    if (done) this.#end ??= {};
  }

  /** Adds as much of the rest as the batch has room for. */
  #addRest(batch: GatheredBatch): void {
    while (this.#nextRest < this.#rest.length && batch.hasRoom) batch.add(this.#rest[this.#nextRest++]);
  }
}
