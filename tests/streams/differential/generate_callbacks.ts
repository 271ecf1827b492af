import type { Chunk, Delay, Operation, Outcome, Reaction, Reactions, SizeResult, Strategy, View } from "./program.ts";
import type { Random } from "./random.ts";

/** Random parts that callbacks are made of. */
export class CallbackGenerator {
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  delay(): Delay {
    const { random } = this;
    return random.chance(0.15)
      ? "macrotask"
      : { microtasks: random.weighted([[4, 0], [3, 1], [2, 2], [1, 3], [1, 6]]) };
  }

  /** Returns the name of an error, or none for `undefined`. */
  errorName(): string | undefined {
    return this.random.weighted([[3, "e1"], [2, "e2"], [1, "e3"], [1, undefined]]);
  }

  /** Mostly one that succeeds. */
  outcome(): Outcome {
    return this.random.weighted<() => Outcome>([
      [60, () => ({ kind: "return" })],
      [28, () => ({ kind: "resolve", delay: this.delay() })],
      [3, () => ({ kind: "throw", error: this.errorName() })],
      [4, () => ({ kind: "reject", error: this.errorName(), delay: this.delay() })],
      [3, () => ({ kind: "thenable" })],
      [2, () => ({ kind: "never" })],
    ])();
  }

  view(): View {
    const { random } = this;
    return {
      type: random.weighted([[6, "Uint8Array"], [2, "Uint16Array"], [1, "DataView"], [1, "Int32Array"]]),
      length: random.weighted([[1, 0], [4, 1], [4, 2], [3, 3], [3, 4], [2, 7]]),
      offset: random.weighted([[4, 0], [1, 4]]),
      rest: random.weighted([[4, 0], [1, 3]]),
    };
  }

  chunk(): Chunk {
    return this.random.weighted<() => Chunk>([[12, () => "fresh"], [1, () => "undefined"], [1, () => this.view()]])();
  }

  highWaterMark(): number | undefined {
    return this.random.weighted([[4, undefined], [3, 0], [3, 1], [2, 2], [2, 5], [0.5, Infinity], [0.1, -1], [
      0.1,
      NaN,
    ]]);
  }

  strategy(operations: () => Operation[]): Strategy {
    const { random } = this;
    const highWaterMark = this.highWaterMark();
    if (random.chance(0.7)) return { highWaterMark };
    const results = Array.from({ length: 1 + random.below(3) }, () => this.sizeResult());
    return { highWaterMark, size: { results, operations: random.chance(0.25) ? operations() : [] } };
  }

  /** Returns up to `most` reactions; `operations` returns the operations of each. */
  reactions(most: number, operations: () => Operation[]): Reactions {
    const reactions: Reaction[] = [];
    for (let left = this.random.below(most + 1); left > 0; left--) {
      reactions.push({ operations: operations(), outcome: this.outcome() });
    }
    return reactions;
  }

  /** Returns a callback's reactions, or no callback. */
  maybe(probability: number, most: number, operations: () => Operation[]): Reactions | undefined {
    return this.random.chance(probability) ? this.reactions(most, operations) : undefined;
  }

  sizeResult(): SizeResult {
    return this.random.weighted<() => SizeResult>([
      [10, () => 1],
      [4, () => 2],
      [3, () => 0],
      [2, () => 0.5],
      [0.3, () => -1],
      [0.3, () => NaN],
      [0.3, () => Infinity],
      [0.4, () => ({ throws: "e4" })],
    ])();
  }
}
