import { defineInterface, giveBatchedState, markAsHandled } from "../streams/internal.ts";
import { WritableStream, type WritableStreamDefaultController, WritableStreamDefaultWriter } from "../streams/mod.ts";

/**
 * The underlying sink of a {@linkcode BatchedWritableStream}: the destination of its batches.
 *
 * @example A sink that takes two chunks at a time
 * ```ts
 * import { type BatchedUnderlyingSink, BatchedWritableStream } from "@millrace/streams/batch";
 *
 * const sink: BatchedUnderlyingSink<string> = {
 *   maxBatch: 2,
 *   writev(names, _controller, isLast) {
 *     console.log(names.join("+"), isLast); // a+b false, c true
 *   },
 * };
 * const writer = new BatchedWritableStream(sink).getWriter();
 * for (const name of ["a", "b", "c"]) void writer.write(name);
 * await writer.close();
 * ```
 */
export interface BatchedUnderlyingSink<W = unknown> {
  /** Called when the stream is aborted and its queue dropped: releases the sink's resources without finishing. */
  abort?: (reason: unknown) => void | PromiseLike<void>;
  /** Called when the stream is closed and the last batch is written. */
  close?: () => void | PromiseLike<void>;
  /**
   * The maximum size of one batch, in the unit of the stream's strategy: chunks, or bytes with a
   * ByteLengthQueuingStrategy. A larger chunk is written alone.
   *
   * @default Infinity
   */
  maxBatch?: number;
  /**
   * The maximum time in ms that a chunk waits for others before its batch starts, unless a batch is in flight. A batch
   * starts earlier if it reaches `minBatch` or `maxBatch`, the queue is full, or the stream closes.
   *
   * @default batches start at the end of the event loop's turn
   */
  maxDelay?: number;
  /**
   * The size, in the unit of `maxBatch`, at which a batch starts before `maxDelay` has passed.
   *
   * @default as much as there is room for
   */
  minBatch?: number;
  /**
   * Called with the reason and the chunks that all attempts of `retry` failed to write. The stream continues unless
   * this callback throws.
   *
   * @default the stream fails with the reason
   */
  onFailed?: (chunks: W[], reason: unknown) => void | PromiseLike<void>;
  /**
   * The number of retries of a failed batch and the pause before each in ms; further chunks wait. If `writev()` returns
   * the failed chunks, only these are retried.
   *
   * @default not at all
   */
  retry?: RetryOptions;
  /** Called when the stream is created. Writing starts once the promise that it returns has settled. */
  start?: (controller: WritableStreamDefaultController) => unknown;
  /** Must be undefined: the standard reserves the name. */
  type?: undefined;
  /**
   * Called with all queued chunks in order, up to `maxBatch`, and again once the returned promise has settled. The sink
   * may keep the array. If the call fails, all its chunks count as not written. `isLast` is true if the stream is
   * closing, so that `close()` comes next; `close()` may also follow a batch whose `isLast` was false. It may return
   * {@linkcode FailedChunks}; any other result means that all chunks are written.
   */
  writev: (
    chunks: W[],
    controller: WritableStreamDefaultController,
    isLast: boolean,
  ) => void | FailedChunks | PromiseLike<void | FailedChunks>;
}

/**
 * The result of a `writev()` of a {@linkcode BatchedUnderlyingSink} that wrote only some of its chunks. `retry` writes
 * the failed ones again; without it they are passed to `onFailed()`, or the stream fails. If `failed` is not a list of
 * indexes, the stream fails at once.
 *
 * @example A sink that refuses odd numbers the first time
 * ```ts
 * import { BatchedWritableStream, type FailedChunks } from "@millrace/streams/batch";
 *
 * const stream = new BatchedWritableStream<number>({
 *   retry: { attempts: 1, delay: 10 },
 *   writev(numbers): FailedChunks | undefined {
 *     console.log(numbers.join()); // 1,2,3, 1,3
 *     if (numbers.length === 3) return { failed: [0, 2], reason: new Error("busy") };
 *   },
 * });
 * const writer = stream.getWriter();
 * for (const number of [1, 2, 3]) void writer.write(number);
 * await writer.close();
 * ```
 */
export interface FailedChunks {
  /** The indexes of the chunks that could not be written, in any order. */
  readonly failed: readonly number[];
  /**
   * The reason why the chunks could not be written.
   *
   * @default an Error with the number of chunks
   */
  readonly reason?: unknown;
}

/**
 * The retries of a failed write.
 *
 * @example Three times, 20 ms apart
 * ```ts
 * import { BatchedWritableStream, type RetryOptions } from "@millrace/streams/batch";
 *
 * const retry: RetryOptions = { attempts: 3, delay: 20 };
 * let calls = 0;
 * const stream = new BatchedWritableStream<string>({
 *   retry,
 *   writev(batch) {
 *     if (++calls === 1) throw new Error("too busy");
 *     console.log(calls, batch.join()); // 2 a,b
 *   },
 * });
 * const writer = stream.getWriter();
 * for (const chunk of ["a", "b"]) void writer.write(chunk);
 * await writer.close();
 * ```
 */
export interface RetryOptions {
  /** The number of retries. */
  readonly attempts: number;
  /**
   * The pause before each retry in ms.
   *
   * @default 1000
   */
  readonly delay?: number;
}

const HIGH_WATER_MARK = 1024;

/**
 * A WritableStream that takes single chunks and passes all queued chunks to its sink in one call.
 *
 * A batch is written when the queue reaches its high-water mark or `maxBatch`, when the stream closes, or otherwise at
 * the end of the event loop's current turn. While the sink writes a batch, further chunks queue for the next one. After
 * a batch that filled the queue, the next one starts when the queue is full again, or when a turn of the event loop
 * adds no chunk. The promise of a `write()` settles with its batch; all writes of a batch return the same promise.
 * `desiredSize` is the high-water mark minus the size of all unacknowledged chunks, queued or in flight. When a batch
 * fails, all pending writes reject: those of the batch and those of queued chunks.
 *
 * Any `pipeTo()` can write to it. That of this package passes on whole arrays of buffered chunks if the strategy has no
 * `size()`, or is a CountQueuingStrategy.
 *
 * @example A thousand writes, one call
 * ```ts
 * import { BatchedWritableStream } from "@millrace/streams/batch";
 *
 * const stream = new BatchedWritableStream<number>({
 *   writev(numbers) {
 *     console.log(numbers.length); // 1000
 *   },
 * });
 * const writer = stream.getWriter();
 * for (let number = 0; number < 1000; number++) void writer.write(number);
 * await writer.close();
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types, chunks have any type by default
export class BatchedWritableStream<W = any> extends WritableStream<W> {
  /**
   * Creates a stream over an underlying sink.
   *
   * @param underlyingSink the destination of batches.
   * @param strategy the size of chunks, and the limit for those queued or in flight; by default 1,024 chunks.
   * @throws {TypeError} if an argument or a member is of the wrong type, or the sink has a `write` in place of `writev`.
   * @throws {RangeError} if the high-water mark or another number is out of its range, or the sink has a `type`.
   */
  constructor(
    underlyingSink: BatchedUnderlyingSink<W> | undefined = undefined,
    strategy: QueuingStrategy<W> | undefined = undefined,
  ) {
    giveBatchedState(underlyingSink, strategy, HIGH_WATER_MARK);
    super();
  }

  /**
   * Locks the stream to a new writer.
   *
   * @throws {TypeError} if the stream is locked.
   */
  override getWriter(): BatchedWriter<W> {
    return new BatchedWriter<W>(this);
  }
}
defineInterface(BatchedWritableStream, "BatchedWritableStream");

/**
 * The writer of a {@linkcode BatchedWritableStream}.
 *
 * @example One promise for many chunks
 * ```ts
 * import { BatchedWritableStream } from "@millrace/streams/batch";
 *
 * const writer = new BatchedWritableStream<string>({
 *   writev: (words) => console.log(words.join(" ")), // mill race
 * }).getWriter();
 * await writer.writeAll(["mill", "race"]);
 * await writer.close();
 * ```
 */
export class BatchedWriter<W = unknown> extends WritableStreamDefaultWriter<W> {
  /**
   * Writes all chunks at once, as a `write()` of each would, without waiting for room: await `ready` first.
   *
   * Fulfils when the sink has taken all of them. When a batch fails, the promise rejects with its reason: the chunks of
   * earlier batches are written, those of this one and of later ones are not. When the iterable throws, the promise
   * rejects with that error, and the chunks before it are still written.
   *
   * @param chunks a finite iterable; for an endless one, use `ReadableStream.from(chunks).pipeTo(stream)`.
   */
  async writeAll(chunks: Iterable<W>): Promise<void> {
    const batches: Promise<void>[] = [];
    for (const chunk of chunks) {
      const written = this.write(chunk); // the same promise for all chunks of a batch
      if (written === batches[batches.length - 1]) continue;
      markAsHandled(written); // the loop below reports the first rejection
      batches.push(written);
    }
    for (const batch of batches) await batch;
  }
}
defineInterface(BatchedWriter, "BatchedWriter");
