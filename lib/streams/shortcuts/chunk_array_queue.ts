/**
 * Arrays for chunks that come many at once. Where the chunks are numbers, whoever is done with them last gives the array
 * back for others: an object in it would be kept alive, a number is not. Without that, a hundred million numbers leave a
 * gigabyte of garbage, for which V8 makes its young generation as large as it can.
 *
 * @module
 */

import { ChunkQueue } from "../queuing/chunk_queue.ts";

/** The length of each array. */
export const RUN_LENGTH = 2048;

/** At most 512 KiB. */
const MOST_SPARE = 32;
const spare: unknown[][] = [];

/** An array of {@linkcode RUN_LENGTH} to fill; what it holds at first is nothing, or old numbers. */
export function takeRun(): unknown[] {
  return spare.pop() ?? new Array<unknown>(RUN_LENGTH);
}

/** Gives back an array of nothing but numbers that nobody uses any longer. */
export function giveBackNumberRun(run: number[]): void {
  if (run.length === RUN_LENGTH && spare.length < MOST_SPARE) spare.push(run);
}

/** A first-in, first-out queue of items that come many at once: the arrays that they came in, one after the other. */
export class Runs<T> {
  #run: T[] = [];
  /** The offset in it of the first item. */
  #at = 0;
  /** The arrays behind it, from `#nextRun` on. */
  #runs: T[][] = [];
  #nextRun = 0;
  /** Whether the last array is one of ours, for items that came alone. */
  #isLastOurs = false;

  push(item: T): void {
    if (this.#isLastOurs) {
      this.#runs[this.#runs.length - 1].push(item);
    } else {
      this.#runs.push([item]);
      this.#isLastOurs = true;
    }
  }

  pushAll(items: T[], start: number): void {
    if (this.#at === this.#run.length && this.#nextRun === this.#runs.length) {
      this.#run = items;
      this.#at = start;
    } else {
      this.#runs.push(start === 0 ? items : items.slice(start));
      this.#isLastOurs = false;
    }
  }

  peek(): T {
    return this.#run[this.#at];
  }

  shift(): T {
    const item = this.#run[this.#at++];
    if (this.#at === this.#run.length) this.#advance();
    return item;
  }

  /** Takes up to `count` items that came at once. */
  shiftRun(count: number): T[] {
    const end = Math.min(this.#run.length, this.#at + count);
    const run = this.#at === 0 && end === this.#run.length ? this.#run : this.#run.slice(this.#at, end);
    this.#at = end;
    if (end === this.#run.length) this.#advance();
    return run;
  }

  #advance(): void {
    if (this.#nextRun === this.#runs.length) return;
    this.#run = this.#runs[this.#nextRun++];
    this.#at = 0;
    if (this.#nextRun < this.#runs.length) return;
    this.#runs = [];
    this.#nextRun = 0;
    this.#isLastOurs = false;
  }
}

/**
 * A queue of chunks of size 1 of which some come many at once: they stay in the arrays they came in. It takes the place
 * of a stream's first queue when they do, so that other streams need not ask for them.
 */
export class RunQueue extends ChunkQueue {
  /** While there are any, arrays hold all chunks. */
  #runs: Runs<unknown> | undefined;

  /** Enqueues the chunks from `start` on, of which there must be one; the array belongs to the queue from then on. */
  enqueueRun(chunks: unknown[], start: number): void {
    if (this.length === 0) this.#runs = new Runs();
    if (this.#runs === undefined) {
      enqueueOneByOne(this, chunks, start);
      return;
    }
    this.#runs.pushAll(chunks, start);
    this.length += chunks.length - start;
    this.totalSize += chunks.length - start;
  }

  /** Dequeues some of the chunks that came at once, at most `count`; none if the first one came alone. */
  dequeueRun(count: number): unknown[] {
    if (this.#runs === undefined) return [];
    const run = this.#runs.shiftRun(count);
    this.length -= run.length;
    this.totalSize -= run.length;
    if (this.length === 0) this.#runs = undefined;
    return run;
  }

  override push(chunk: unknown): void {
    if (this.#runs === undefined) {
      super.push(chunk);
    } else {
      this.#runs.push(chunk);
      this.length++;
    }
  }

  override shift(): unknown {
    if (this.#runs === undefined) return super.shift();
    const chunk = this.#runs.shift();
    if (--this.length === 0) this.#runs = undefined;
    return chunk;
  }

  override peek(): unknown {
    return this.#runs === undefined ? super.peek() : this.#runs.peek();
  }

  override clear(): void {
    super.clear();
    this.#runs = undefined;
  }
}

/** A queue in whose place a {@linkcode RunQueue} may be put. */
interface QueueOwner {
  queue: ChunkQueue;
}

/** Enqueues the chunks from `start` on, of which there must be one; the array belongs to the queue from then on. */
export function enqueueRun(owner: QueueOwner, chunks: unknown[], start: number): void {
  if (owner.queue.length === 0 && !(owner.queue instanceof RunQueue)) owner.queue = new RunQueue();
  if (owner.queue instanceof RunQueue) owner.queue.enqueueRun(chunks, start);
  else enqueueOneByOne(owner.queue, chunks, start);
}

function enqueueOneByOne(queue: ChunkQueue, chunks: unknown[], start: number): void {
  for (let i = start; i < chunks.length; i++) queue.enqueue(chunks[i], 1);
}

/** Dequeues some chunks, at least one and at most `count`; the queue must not be empty. */
export function dequeueSome(queue: ChunkQueue, count: number): unknown[] {
  const some = queue instanceof RunQueue ? queue.dequeueRun(count) : [];
  if (some.length > 0) return some;
  for (let i = Math.min(count, queue.length); i > 0; i--) some.push(queue.dequeue());
  return some;
}
