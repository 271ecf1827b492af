import { type Callback, toCallback, toDictionary } from "../language/webidl.ts";
import { outOfRange } from "../language/errors.ts";

const MIN_CAPACITY = 8;
/** The maximum array that an emptied ring keeps, so that one burst does not occupy memory for the life of a stream. */
const MAX_KEPT_CAPACITY = 1024;
const NONE: never[] = [];

/** A queue with its first item in a field, since most queues never have a second one; others are in a ring of a power-of-two length. */
export class Ring<T> {
  length = 0;
  #first: T | undefined;
  /** The items after the first; the array is made for the second item. */
  #items: (T | undefined)[] = NONE;
  #head = 0;

  push(item: T): void {
    if (this.length > 0) this.#append(item);
    else this.#first = item;
    this.length++;
  }

  /** Takes the first item; the ring must not be empty. */
  shift(): T {
    const item = this.#first as T;
    if (--this.length === 0) this.#first = undefined;
    else this.#advance();
    return item;
  }

  /** Returns the first item; the ring must not be empty. */
  peek(): T {
    return this.#first as T;
  }

  /** Returns the item at an index, which the ring must have. */
  at(index: number): T {
    if (index === 0) return this.#first as T;
    return this.#items[(this.#head + index - 1) & (this.#items.length - 1)] as T;
  }

  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#head = 0;
    this.#items = NONE;
  }

  #append(item: T): void {
    const others = this.length - 1;
    if (others === this.#items.length) this.#grow();
    this.#items[(this.#head + others) & (this.#items.length - 1)] = item;
  }

  #advance(): void {
    const items = this.#items;
    const head = this.#head;
    this.#first = items[head];
    items[head] = undefined;
    this.#head = (head + 1) & (items.length - 1);
    if (this.length > 1) return;
    this.#head = 0; // the ring is empty: shallow queues reuse the same few slots
    if (items.length > MAX_KEPT_CAPACITY) this.#items = NONE;
  }

  #grow(): void {
    const { length } = this.#items;
    const grown = new Array<T | undefined>(length === 0 ? MIN_CAPACITY : length * 2);
    for (let i = 0; i < length; i++) grown[i] = this.#items[(this.#head + i) & (length - 1)];
    this.#items = grown;
    this.#head = 0;
  }
}

/** A {@link https://streams.spec.whatwg.org/#queue-with-sizes queue with sizes}: chunks, their sizes, the total. */
export class ChunkQueue extends Ring<unknown> {
  totalSize = 0;
  /** The size of the chunk that {@linkcode take} took, or that bypassed the queue; part of the total. */
  takenSize = 0;
  /** The sizes of chunks, from the first one whose size is not 1: most queues never have one. */
  #sizes: Ring<number> | undefined;

  /** The standard's EnqueueValueWithSize; `size` has been checked by {@linkcode checkedSize}. */
  enqueue(chunk: unknown, size: number): void {
    if (this.#sizes !== undefined) this.#sizes.push(size);
    else if (size !== 1) this.#startSizes(size);
    this.push(chunk);
    this.totalSize += size;
  }

  /** The standard's DequeueValue; the queue must not be empty. */
  dequeue(): unknown {
    this.#subtract(this.#sizes === undefined ? 1 : this.#sizes.shift());
    return this.shift();
  }

  /** Takes the first chunk, whose size stays in the total until {@linkcode release}; the queue must not be empty. */
  take(): unknown {
    this.takenSize = this.#sizes === undefined ? 1 : this.#sizes.shift();
    return this.shift();
  }

  /** Adds the size of a chunk that bypasses the queue to the total, until {@linkcode release}. */
  pass(size: number): void {
    this.takenSize = size;
    this.totalSize += size;
  }

  /** Removes the size of the taken or passed chunk from the total. */
  release(): void {
    this.#subtract(this.takenSize);
    this.takenSize = 0;
  }

  /** The standard's ResetQueue. */
  reset(): void {
    this.clear();
    this.#sizes = undefined;
    this.totalSize = 0;
    this.takenSize = 0;
  }

  #subtract(size: number): void {
    this.totalSize -= size;
    if (this.totalSize < 0) this.totalSize = 0; // due to rounding of fractional sizes
  }

  #startSizes(size: number): void {
    this.#sizes = new Ring();
    for (let i = this.length; i > 0; i--) this.#sizes.push(1);
    this.#sizes.push(size);
  }
}

/** Checks the size that a strategy returned; throws a RangeError if it is negative, infinite or not a number. */
export function checkedSize(size: unknown): number {
  const number = +(size as number);
  if (!(number >= 0 && number < Infinity)) {
    throw outOfRange(`the size of a chunk must be a finite number of at least 0, not ${String(size)}`);
  }
  return number;
}

/** The size function of CountQueuingStrategy, which need not be called. */
export const countSize = (): 1 => 1;

/** A size function: a user's, or `undefined` where every chunk counts as 1. */
export type SizeAlgorithm = Callback | undefined;

export interface ConvertedStrategy {
  readonly highWaterMark: number | undefined;
  readonly size: Callback | undefined;
}

const NO_STRATEGY: ConvertedStrategy = { highWaterMark: undefined, size: undefined };

export function toStrategy(value: unknown): ConvertedStrategy {
  if (value === undefined) return NO_STRATEGY;
  const dictionary = toDictionary(value, "the queuing strategy");
  const { highWaterMark } = dictionary;
  const mark = highWaterMark === undefined ? undefined : +(highWaterMark as number);
  return { highWaterMark: mark, size: toCallback(dictionary.size, "the strategy's size") };
}

/** The standard's ExtractHighWaterMark. @throws {RangeError} if it is negative or NaN. */
export function extractHighWaterMark(strategy: ConvertedStrategy, defaultMark: number): number {
  const { highWaterMark } = strategy;
  if (highWaterMark === undefined) return defaultMark;
  if (!(highWaterMark >= 0)) throw outOfRange(`highWaterMark must be at least 0, not ${highWaterMark}`);
  return highWaterMark;
}

/** The standard's ExtractSizeAlgorithm. CountQueuingStrategy's own function is not called, which cannot be observed. */
export function extractSizeAlgorithm(strategy: ConvertedStrategy): SizeAlgorithm {
  return strategy.size === countSize ? undefined : strategy.size;
}
