import { mustBe } from "./errors.ts";
import { countSize } from "./queuing_strategy.ts";
import { defineInterface, toDictionary } from "./webidl.ts";

/**
 * Options of the two built-in strategies.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-queuingstrategyinit}
 */
export interface QueuingStrategyInit {
  /** From this size of the queue on there is backpressure; in bytes or chunks, as the strategy counts. */
  highWaterMark: number;
}

// One function for all instances, as the standard has it.
const byteLength = { size: (chunk: { readonly byteLength: number }): number => chunk.byteLength }.size;
for (const size of [byteLength, countSize]) Object.defineProperty(size, "name", { value: "size" }); // whatever is inferred

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
    return countSize;
  }
}
defineInterface(CountQueuingStrategy, "CountQueuingStrategy");

function requiredHighWaterMark(init: unknown): number {
  const dictionary = toDictionary(init, "the strategy's options");
  const highWaterMark = dictionary?.highWaterMark;
  if (highWaterMark === undefined) throw mustBe("highWaterMark", "given");
  return +(highWaterMark as number); // not Number(): a BigInt is an error
}
