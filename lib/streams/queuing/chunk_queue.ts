import { outOfRange } from "../language/errors.ts";
import { Ring } from "./ring.ts";

/**
 * A queue with sizes: chunks in order, the size of each, and the total.
 *
 * @see {@link https://streams.spec.whatwg.org/#queue-with-sizes}
 */
export class ChunkQueue extends Ring<unknown> {
  totalSize = 0;
  /** The size of the chunk that {@linkcode take} took, or that went past the queue: part of the total. */
  takenSize = 0;
  /** The sizes, from the first chunk on whose size is not 1: most queues never have one. */
  #sizes: Ring<number> | undefined;

  /** EnqueueValueWithSize; `size` has been checked by {@linkcode checkedSize}. */
  enqueue(chunk: unknown, size: number): void {
    if (this.#sizes !== undefined) this.#sizes.push(size);
    else if (size !== 1) this.#startSizes(size);
    this.push(chunk);
    this.totalSize += size;
  }

  /** DequeueValue; the queue must not be empty. */
  dequeue(): unknown {
    this.#subtract(this.#sizes === undefined ? 1 : this.#sizes.shift());
    return this.shift();
  }

  /** Takes the first chunk, whose size counts until {@linkcode release}; the queue must not be empty. */
  take(): unknown {
    this.takenSize = this.#sizes === undefined ? 1 : this.#sizes.shift();
    return this.shift();
  }

  /** Counts the size of a chunk that need not wait in the queue, until {@linkcode release}. */
  pass(size: number): void {
    this.takenSize = size;
    this.totalSize += size;
  }

  /** The chunk that was taken, or passed, is done with. */
  release(): void {
    this.#subtract(this.takenSize);
    this.takenSize = 0;
  }

  /** ResetQueue. */
  reset(): void {
    this.clear();
    this.#sizes = undefined;
    this.totalSize = 0;
    this.takenSize = 0;
  }

  #subtract(size: number): void {
    this.totalSize -= size;
    if (this.totalSize < 0) this.totalSize = 0; // rounding of fractional sizes
  }

  #startSizes(size: number): void {
    this.#sizes = new Ring();
    for (let i = this.length; i > 0; i--) this.#sizes.push(1);
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
    throw outOfRange(`the size of a chunk must be a finite number of at least 0, not ${String(size)}`);
  }
  return number;
}
