import { mustBe } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { countSize } from "./chunk_queue.ts";
import { defineInterface, toDictionary } from "../language/webidl.ts";

/**
 * Options of the two built-in strategies.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-queuingstrategyinit}
 * @example The same mark for two streams
 * ```ts
 * import { ByteLengthQueuingStrategy, type QueuingStrategyInit } from "@millrace/streams/streams";
 *
 * const init: QueuingStrategyInit = { highWaterMark: 64 * 1024 };
 * console.log(new ByteLengthQueuingStrategy(init).highWaterMark); // 65536
 * ```
 */
export interface QueuingStrategyInit {
  /** The queue's total size, in bytes or chunks by the strategy, at which backpressure begins. */
  highWaterMark: number;
}

// One function for all instances, as the standard has it. Bun's types of strategies call it without a chunk, too.
const byteLength = { size: (chunk?: { readonly byteLength: number }): number => chunk!.byteLength }.size;
// Whatever name engines infer.
for (const size of [byteLength, countSize]) Object.defineProperty(size, "name", { value: "size" });

/**
 * A strategy that counts the bytes of chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#blqs-class}
 * @example Take 64 KiB before there is backpressure
 * ```ts
 * import { ByteLengthQueuingStrategy, WritableStream } from "@millrace/streams/streams";
 *
 * const strategy = new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 });
 * const writer = new WritableStream<Uint8Array>({}, strategy).getWriter();
 * void writer.write(new Uint8Array(1000));
 * console.log(writer.desiredSize); // 64536
 * ```
 */
export class ByteLengthQueuingStrategy {
  #highWaterMark: number;

  /**
   * Creates a strategy.
   *
   * @param init the `highWaterMark` in bytes.
   * @throws {TypeError} if there is no `highWaterMark`, or it cannot become a number, such as a BigInt or a symbol.
   */
  constructor(init: QueuingStrategyInit) {
    this.#highWaterMark = requiredHighWaterMark(init);
  }

  /** The high-water mark in bytes. */
  get highWaterMark(): number {
    return this.#highWaterMark;
  }

  /** The function that returns a chunk's `byteLength`. */
  get size(): (chunk?: { readonly byteLength: number }) => number {
    this.#highWaterMark; // brand check
    return byteLength;
  }
}
defineInterface(ByteLengthQueuingStrategy, "ByteLengthQueuingStrategy");
showInNode(ByteLengthQueuingStrategy, "highWaterMark");

/**
 * A strategy that counts chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#cqs-class}
 * @example Stay 16 chunks ahead of the reader
 * ```ts
 * import { CountQueuingStrategy, ReadableStream } from "@millrace/streams/streams";
 *
 * let made = 0;
 * const numbers = new ReadableStream<number>(
 *   { pull: (controller) => controller.enqueue(++made) },
 *   new CountQueuingStrategy({ highWaterMark: 16 }),
 * );
 * await new Promise((later) => setTimeout(later));
 * console.log(made, numbers.locked); // 16 false
 * ```
 */
export class CountQueuingStrategy {
  #highWaterMark: number;

  /**
   * Creates a strategy.
   *
   * @param init the `highWaterMark` in chunks.
   * @throws {TypeError} if there is no `highWaterMark`, or it cannot become a number, such as a BigInt or a symbol.
   */
  constructor(init: QueuingStrategyInit) {
    this.#highWaterMark = requiredHighWaterMark(init);
  }

  /** The high-water mark in chunks. */
  get highWaterMark(): number {
    return this.#highWaterMark;
  }

  /** The function that returns 1 for each chunk. */
  get size(): () => 1 {
    this.#highWaterMark; // brand check
    return countSize;
  }
}
defineInterface(CountQueuingStrategy, "CountQueuingStrategy");
showInNode(CountQueuingStrategy, "highWaterMark");

function requiredHighWaterMark(init: unknown): number {
  const dictionary = toDictionary(init, "the strategy's options");
  const highWaterMark = dictionary.highWaterMark;
  if (highWaterMark === undefined) throw mustBe("highWaterMark", "given");
  return +(highWaterMark as number); // Number() would convert a BigInt
}
