import { mustBe } from "./errors.ts";
import { type Callback, defineInterface, toCallback, toDictionary } from "./webidl.ts";

/**
 * Options of the two built-in strategies.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-queuingstrategyinit}
 */
export interface QueuingStrategyInit {
  /** From this size of the queue on there is backpressure; in bytes or chunks, as the strategy counts. */
  highWaterMark: number;
}

// One function for all instances, as the standard has it; the one that counts chunks needs no call: see below.
const byteLength = { size: (chunk: { readonly byteLength: number }): number => chunk.byteLength }.size;
const one = { size: (): 1 => 1 }.size;
for (const size of [byteLength, one]) Object.defineProperty(size, "name", { value: "size" }); // whatever engines infer

/**
 * A strategy that counts the bytes of chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#blqs-class}
 * @example
 * ```ts
 * import { ByteLengthQueuingStrategy, WritableStream } from "@millrace/streams/streams";
 *
 * new WritableStream({ write() {} }, new ByteLengthQueuingStrategy({ highWaterMark: 65536 }));
 * ```
 */
export class ByteLengthQueuingStrategy {
  #highWaterMark: number;

  /**
   * Makes a strategy.
   *
   * @param init its `highWaterMark` in bytes.
   * @throws {TypeError} if there is none, or it cannot become a number, as a BigInt or a symbol.
   */
  constructor(init: QueuingStrategyInit) {
    this.#highWaterMark = requiredHighWaterMark(init);
  }

  /** The high-water mark in bytes. */
  get highWaterMark(): number {
    return this.#highWaterMark;
  }

  /** Returns a chunk's `byteLength`. */
  get size(): (chunk: { readonly byteLength: number }) => number {
    this.#highWaterMark; // brand check
    return byteLength;
  }
}
defineInterface(ByteLengthQueuingStrategy, "ByteLengthQueuingStrategy");

/**
 * A strategy that counts chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#cqs-class}
 * @example
 * ```ts
 * import { CountQueuingStrategy, ReadableStream } from "@millrace/streams/streams";
 *
 * new ReadableStream({ pull() {} }, new CountQueuingStrategy({ highWaterMark: 16 }));
 * ```
 */
export class CountQueuingStrategy {
  #highWaterMark: number;

  /**
   * Makes a strategy.
   *
   * @param init its `highWaterMark` in chunks.
   * @throws {TypeError} if there is none, or it cannot become a number, as a BigInt or a symbol.
   */
  constructor(init: QueuingStrategyInit) {
    this.#highWaterMark = requiredHighWaterMark(init);
  }

  /** The high-water mark in chunks. */
  get highWaterMark(): number {
    return this.#highWaterMark;
  }

  /** Returns 1. */
  get size(): () => 1 {
    this.#highWaterMark; // brand check
    return one;
  }
}
defineInterface(CountQueuingStrategy, "CountQueuingStrategy");

function requiredHighWaterMark(init: unknown): number {
  const dictionary = toDictionary(init, "the strategy's options");
  const highWaterMark = dictionary?.highWaterMark;
  if (highWaterMark === undefined) throw mustBe("highWaterMark", "given");
  return +(highWaterMark as number); // not Number(): a BigInt is an error
}

/** What a size function may be: a user's, or `undefined` where every chunk counts as 1. */
export type SizeAlgorithm = Callback | undefined;

/** A strategy after conversion. */
export interface ConvertedStrategy {
  readonly highWaterMark: number | undefined;
  readonly size: Callback | undefined;
}

const NO_STRATEGY: ConvertedStrategy = { highWaterMark: undefined, size: undefined };

/** Converts a QueuingStrategy dictionary. */
export function toStrategy(value: unknown): ConvertedStrategy {
  const dictionary = toDictionary(value, "the queuing strategy");
  if (dictionary === undefined) return NO_STRATEGY;
  const { highWaterMark } = dictionary;
  const mark = highWaterMark === undefined ? undefined : +(highWaterMark as number);
  return { highWaterMark: mark, size: toCallback(dictionary.size, "the strategy's size") };
}

/**
 * ExtractHighWaterMark.
 *
 * @throws {RangeError} if it is negative or NaN.
 */
export function extractHighWaterMark(strategy: ConvertedStrategy, defaultMark: number): number {
  const { highWaterMark } = strategy;
  if (highWaterMark === undefined) return defaultMark;
  if (!(highWaterMark >= 0)) throw new RangeError(`highWaterMark must be at least 0, not ${highWaterMark}`);
  return highWaterMark;
}

/** ExtractSizeAlgorithm; calling CountQueuingStrategy's function cannot be observed, so it is not called. */
export function extractSizeAlgorithm(strategy: ConvertedStrategy): SizeAlgorithm {
  return strategy.size === one ? undefined : strategy.size;
}
