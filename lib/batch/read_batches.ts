import {
  acquireBatchReader,
  type BatchLimits,
  type BatchReader,
  type BatchRequest,
  bool,
  Deferred,
  integer,
  positive,
  queueReaction,
  schema,
  type SchemaOf,
  signal,
} from "../streams/internal.ts";

/**
 * Options of {@linkcode readBatches}.
 *
 * @example At most 100 rows a statement
 * ```ts
 * import { readBatches, type ReadBatchesOptions } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const options: ReadBatchesOptions = { maxChunks: 100 };
 * const rows = ReadableStream.from(new Array(250).fill("row"));
 * for await (const batch of readBatches(rows, options)) console.log(batch.length); // 100, 100, 50
 * ```
 */
export interface ReadBatchesOptions {
  /**
   * The maximum number of chunks in a batch; Infinity for no limit.
   *
   * @default 1024
   */
  maxChunks?: number;
  /**
   * The size in bytes from which a batch is complete; Infinity for no limit. The batch includes the chunk that reaches
   * this size. A string counts with its length, an object as 0.
   *
   * @default 262144
   */
  maxBytes?: number;
  /**
   * Whether leaving the loop early only releases the lock, so that another reader can continue, instead of canceling
   * the stream.
   *
   * @default false
   */
  preventCancel?: boolean;
  /** Ends the iteration with the signal's reason when it is aborted, and cancels the stream unless `preventCancel` is set. */
  signal?: AbortSignal;
}

const MAX_CHUNKS = 1024;
const MAX_BYTES = 262_144;

export const readBatchesOptions: SchemaOf<
  ReadBatchesOptions,
  "maxChunks" | "maxBytes" | "preventCancel"
> = /* @__PURE__ */ schema("readBatches()", () => ({
  maxChunks: integer(1, Infinity, MAX_CHUNKS),
  maxBytes: positive(MAX_BYTES),
  preventCancel: bool(false),
  signal: signal(),
}));

/**
 * Reads a stream in batches: each step of the loop gets an array of all chunks that are queued, or waits for the next
 * chunk. This costs one promise a batch instead of one a chunk.
 *
 * Every chunk comes once and in order; an error comes after all chunks before it. The stream may be one of this package
 * or native, and is locked until the loop ends. Leaving the loop early cancels the stream. Chunks are read on demand,
 * as many as a batch has room for. From a native stream one chunk may be read ahead.
 *
 * @param stream a ReadableStream, of this package or native.
 * @returns an iterator of non-empty arrays, which you may change. The iterator's `return()` also ends a `next()` that
 * waits.
 * @throws {TypeError} if `stream` is no ReadableStream or is locked, or an option is unknown or of the wrong type.
 * @throws {RangeError} if a limit is out of range.
 * @example Sum up small chunks
 * ```ts
 * import { readBatches } from "@millrace/streams/batch";
 *
 * const body = new Response("mill ".repeat(2000)).body!;
 * let bytes = 0;
 * for await (const batch of readBatches(body)) {
 *   for (const chunk of batch) bytes += chunk.length;
 * }
 * console.log(bytes); // 10000
 * ```
 */
export function readBatches<R>(
  stream: globalThis.ReadableStream<R>,
  options: ReadBatchesOptions = {},
): AsyncIterableIterator<R[], undefined, unknown> {
  const { maxChunks = MAX_CHUNKS, maxBytes = MAX_BYTES, preventCancel = false, signal } = readBatchesOptions.check(
    options,
  );
  return new BatchIterator<R>(stream, { maxChunks, maxBytes }, preventCancel, signal);
}

type Result<R> = IteratorResult<R[], undefined>;

class BatchIterator<R> implements AsyncIterableIterator<R[], undefined, unknown>, BatchRequest {
  /** The reader; undefined once the iteration has ended. */
  #reader: BatchReader | undefined;
  readonly #preventCancel: boolean;
  readonly #signal: AbortSignal | undefined;
  /** The pending calls of `next()`; only the first one has a request at the reader. */
  readonly #waiting: Deferred<Result<R>>[] = [];
  /** Whether a call of the reader is running, which runs the source's code: that may call `next()` again. */
  #isTaking = false;
  /** The error for the next call. */
  #failure: { readonly error: unknown } | undefined;

  constructor(
    stream: globalThis.ReadableStream<R>,
    limits: BatchLimits,
    preventCancel: boolean,
    signal: AbortSignal | undefined,
  ) {
    this.#reader = acquireBatchReader(stream, limits, preventCancel);
    this.#preventCancel = preventCancel;
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<R>> {
    const reader = this.#reader;
    const waiting = this.#waiting;
    if (waiting.length > 0 || this.#isTaking) {
      const last = new Deferred<Result<R>>();
      waiting.push(last);
      return last.promise;
    }
    if (reader === undefined) return this.#afterEnd();
    const batch = this.#take(reader); // runs the source's code, which may end the iteration
    if (batch === undefined && this.#reader !== undefined) {
      const first = new Deferred<Result<R>>();
      waiting.unshift(first);
      reader.read(this);
      return first.promise;
    }
    const answer = batch === undefined ? this.#afterEnd() : served(batch);
    this.#goOn();
    return answer;
  }

  async return(value?: unknown): Promise<Result<R>> {
    const reader = this.#reader;
    if (this.#waiting.length === 0) this.#failure = undefined;
    if (reader !== undefined) {
      const canceled = this.#preventCancel ? undefined : reader.cancel(value);
      this.#finish();
      await canceled;
    }
    return { done: true, value: undefined };
  }

  batchSteps(batch: R[]): void {
    const first = this.#waiting.shift()!;
    first.resolve({ done: false, value: batch });
    this.#goOn();
  }

  closeSteps(): void {
    this.#finish();
  }

  errorSteps(error: unknown): void {
    this.#failure = { error };
    this.#finish();
  }

  #take(reader: BatchReader): R[] | undefined {
    this.#isTaking = true;
    const batch = reader.take();
    this.#isTaking = false;
    return batch as R[] | undefined;
  }

  /** Settles the pending calls that remain after one has been settled. */
  #goOn(): void {
    if (this.#reader === undefined) this.#tellEnd();
    else if (this.#waiting.length > 0) queueReaction(this.#serve);
  }

  readonly #serve = (): void => {
    const reader = this.#reader;
    if (reader === undefined || this.#waiting.length === 0) return;
    const batch = this.#take(reader);
    if (batch !== undefined) this.batchSteps(batch);
    else if (this.#reader === undefined) this.#tellEnd();
    else reader.read(this);
  };

  readonly #onAbort = (): void => {
    const reader = this.#reader!;
    const error: unknown = this.#signal!.reason;
    this.#failure = { error };
    if (!this.#preventCancel) reader.cancel(error).catch(() => {}); // calls reject with the abort
    this.#finish();
  };

  #afterEnd(): Promise<Result<R>> {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(failure.error);
  }

  #finish(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    const rest = reader.release() as R[] | Promise<R[] | undefined> | undefined;
    if (this.#isTaking) return; // the running call of #take() settles the pending calls
    if (rest === undefined || Array.isArray(rest)) this.#tellEnd(rest);
    else rest.then(this.#tellEnd);
  }

  /** Settles the first pending call with the rest, if there is one, and all others as done. */
  readonly #tellEnd = (rest?: R[]): void => {
    if (rest !== undefined) this.#waiting.shift()?.resolve({ done: false, value: rest });
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(this.#afterEnd());
  };
}

/** An async function is the fastest way to make a fulfilled promise. */
// deno-lint-ignore require-await -- the promise is what is wanted
async function served<R>(value: R[]): Promise<Result<R>> {
  return { done: false, value };
}
