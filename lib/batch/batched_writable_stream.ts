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
   * The most that one `writev()` gets, in the unit of the stream's strategy: chunks, or bytes with a
   * ByteLengthQueuingStrategy. A chunk that is larger goes alone.
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
   * The size, in the unit of `maxBatch`, from which on a batch starts before `maxDelay` has passed.
   *
   * @default as much as there is room for
   */
  minBatch?: number;
  /**
   * Called with the chunks that could not be written after all attempts of `retry`, and the reason: the stream goes on
   * then, unless this throws.
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
  /** Called when the stream is made; nothing is written until what it returned has settled. */
  start?: (controller: WritableStreamDefaultController) => unknown;
  /** Left out: the name is reserved. */
  type?: undefined;
  /**
   * Called with all chunks that are queued, in order, up to `maxBatch`; not again until what it returned has settled.
   * The array is the sink's to keep. If it fails, all of these count as not written. `isLast` tells that the stream
   * is closing, and `close()` comes next; it may come after a batch that was not the last for all that was known, too.
   * It may return which chunks failed; whatever else it returns means that all are written.
   */
  writev?: (
    chunks: W[],
    controller: WritableStreamDefaultController,
    isLast: boolean,
  ) => void | FailedChunks | PromiseLike<void | FailedChunks>;
}

/**
 * The result of a `writev()` of a {@linkcode BatchedUnderlyingSink} that wrote some of its chunks only. `retry` writes
 * the others again; without it they go to `onFailed()`, or the stream fails. A `failed` that is no list of indexes fails
 * the stream at once.
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
   * The reason.
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

/** The default high-water mark, in chunks. */
const HIGH_WATER_MARK = 1024;

/**
 * A WritableStream that is written to one chunk at a time, and gives its sink all that has queued up in one call.
 *
 * A batch is given when the queue has reached its high-water mark or `maxBatch`, when the stream closes, and else at the
 * end of the event loop's current turn. While the sink works on it, further writes queue for the next one. Behind a batch
 * that filled the queue, the next one starts when the queue is full, or a turn has added nothing to it.
 * The promise of a `write()` settles with its batch; all writes of a batch return the same one. `desiredSize` is the
 * high-water mark less everything that was written and not acknowledged, in flight or not. When a batch fails, exactly
 * the writes whose promises are pending reject: those of the batch and of what waited.
 *
 * Any `pipeTo()` can have it for its destination. Ours passes on whole runs of buffered chunks, where the strategy has
 * no `size()`, or is a CountQueuingStrategy.
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
// deno-lint-ignore no-explicit-any -- as in the platform's own types: a stream of anything unless told
export class BatchedWritableStream<W = any> extends WritableStream<W> {
  /**
   * Makes a stream of an underlying sink.
   *
   * @param underlyingSink where batches go.
   * @param strategy how much may wait or be in flight; by default 1,024 chunks.
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
   * Writes all chunks in this call, as a `write()` of each would, without a wait for room: await `ready` before.
   *
   * Fulfils when the sink has taken all of them. When a batch fails, the promise rejects with its reason: the chunks of
   * earlier batches are written, those of this one and of later ones are not. When the iterable throws, the promise
   * rejects with that error, and the chunks before it are written all the same.
   *
   * @param chunks an iterable that ends; one without end is for `ReadableStream.from(chunks).pipeTo(stream)`.
   */
  async writeAll(chunks: Iterable<W>): Promise<void> {
    const batches: Promise<void>[] = [];
    for (const chunk of chunks) {
      const written = this.write(chunk); // the same promise for all chunks of a batch
      if (written === batches[batches.length - 1]) continue;
      markAsHandled(written); // which promise rejects first is for the loop below to say
      batches.push(written);
    }
    for (const batch of batches) await batch;
  }
}
defineInterface(BatchedWriter, "BatchedWriter");
