import { Ring } from "./ring.ts";

/**
 * A queue with sizes: chunks in order, the size of each, and the total.
 *
 * @see {@link https://streams.spec.whatwg.org/#queue-with-sizes}
 */
export class ChunkQueue {
  totalSize = 0;
  readonly #chunks = new Ring<unknown>();
  /** The sizes, from the first chunk on whose size is not 1: most queues never have one. */
  #sizes: Ring<number> | undefined = undefined;

  get length(): number {
    return this.#chunks.length;
  }

  /** EnqueueValueWithSize; `size` has been checked by {@linkcode checkedSize}. */
  enqueue(chunk: unknown, size: number): void {
    if (this.#sizes !== undefined) this.#sizes.push(size);
    else if (size !== 1) this.#startSizes(size);
    this.#chunks.push(chunk);
    this.totalSize += size;
  }

  /** DequeueValue; the queue must not be empty. */
  dequeue(): unknown {
    const size = this.#sizes === undefined ? 1 : this.#sizes.shift();
    this.totalSize -= size;
    if (this.totalSize < 0) this.totalSize = 0; // rounding of fractional sizes
    return this.#chunks.shift();
  }

  /** PeekQueueValue; the queue must not be empty. */
  peek(): unknown {
    return this.#chunks.peek();
  }

  /** ResetQueue. */
  reset(): void {
    this.#chunks.clear();
    this.#sizes = undefined;
    this.totalSize = 0;
  }

  #startSizes(size: number): void {
    this.#sizes = new Ring();
    for (let i = this.#chunks.length; i > 0; i--) this.#sizes.push(1);
    this.#sizes.push(size);
  }
}

/**
 * The size that a strategy gave, as a number that a queue can take.
 *
 * @throws {RangeError} if it is negative, infinite or not a number.
 */
export function checkedSize(size: unknown): number {
  const number = +(size as number);
  if (!(number >= 0 && number < Infinity)) {
    throw new RangeError(`the size of a chunk must be a finite number of at least 0, not ${String(size)}`);
  }
  return number;
}
