import { ChunkQueue, Ring } from "../queuing/chunk_queue.ts";

/** The length of the arrays for chunks that arrive many at once. */
export const ARRAY_LENGTH = 2048;

/** The maximum number of spare arrays: 512 KiB. */
const MAX_SPARE = 32;
const spare: unknown[][] = [];

/** Returns an array of {@linkcode ARRAY_LENGTH} to fill, empty or with old numbers. */
export function acquireArray(): unknown[] {
  return spare.pop() ?? new Array<unknown>(ARRAY_LENGTH);
}

/**
 * Returns an array of numbers for {@linkcode acquireArray}. The array must have no other user, and contain no objects,
 * which it would keep alive. Without reuse, a hundred million numbers leave a gigabyte of garbage, and V8's young
 * generation grows to its limit.
 */
export function releaseNumberArray(numbers: number[]): void {
  if (numbers.length === ARRAY_LENGTH && spare.length < MAX_SPARE) spare.push(numbers);
}

const NONE: never[] = [];

/** A queue of chunks of size 1 that keeps arrays whole. It replaces a stream's first queue when many chunks come at once. */
export class ChunkArrayQueue extends ChunkQueue {
  /** The array of the first chunk, and that chunk's index. */
  #array: unknown[] = NONE;
  #at = 0;
  /** The arrays behind the first one. */
  readonly #others = new Ring<unknown[]>();
  /** The last array, if this queue made it for single chunks. */
  #open: unknown[] | undefined;

  /** Enqueues the chunks from `start` on, at least one, and takes ownership of the array. */
  enqueueArray(chunks: unknown[], start: number): void {
    if (this.length > 0) {
      this.#others.push(start === 0 ? chunks : chunks.slice(start));
    } else {
      this.#array = chunks;
      this.#at = start;
    }
    this.#open = undefined;
    this.length += chunks.length - start;
    this.totalSize += chunks.length - start;
  }

  /** Dequeues the chunks of one array, at most `max`; the queue must not be empty. */
  dequeueArray(max: number): unknown[] {
    const array = this.#array;
    const start = this.#at;
    const end = Math.min(array.length, start + max);
    this.length -= end - start;
    this.totalSize -= end - start;
    this.#advanceTo(end);
    return start === 0 && end === array.length ? array : array.slice(start, end);
  }

  override push(chunk: unknown): void {
    if (this.length === 0) {
      this.#array = [chunk];
      this.#at = 0;
    } else if (this.#open !== undefined) {
      this.#open.push(chunk);
    } else {
      this.#others.push(this.#open = [chunk]);
    }
    this.length++;
  }

  override shift(): unknown {
    const chunk = this.#array[this.#at];
    this.length--;
    this.#advanceTo(this.#at + 1);
    return chunk;
  }

  override clear(): void {
    super.clear();
    this.#array = NONE;
    this.#others.clear();
    this.#open = undefined;
  }

  #advanceTo(at: number): void {
    this.#at = at;
    if (at < this.#array.length) return;
    this.#array = this.length > 0 ? this.#others.shift() : NONE;
    this.#at = 0;
    // Otherwise the array would grow for as long as the queue is never empty.
    if (this.#array === this.#open) this.#open = undefined;
  }
}

/** Enqueues the chunks from `start` on, at least one, and takes ownership of the array. */
export function enqueueArray(owner: { queue: ChunkQueue }, chunks: unknown[], start: number): void {
  if (owner.queue.length === 0 && !(owner.queue instanceof ChunkArrayQueue)) owner.queue = new ChunkArrayQueue();
  if (owner.queue instanceof ChunkArrayQueue) owner.queue.enqueueArray(chunks, start);
  else for (let i = start; i < chunks.length; i++) owner.queue.enqueue(chunks[i], 1);
}

/** Dequeues some chunks, at least one and at most `max`; the queue must not be empty. */
export function dequeueSome(queue: ChunkQueue & Partial<ChunkArrayQueue>, max: number): unknown[] {
  if (queue.dequeueArray) return queue.dequeueArray(max); // found without its class, which few pages need
  const some: unknown[] = [];
  for (let i = Math.min(max, queue.length); i > 0; i--) some.push(queue.dequeue());
  return some;
}
