/** Numbers that look random and are the same for the same seed (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns a number from 0 to just below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from 0 to just below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }
}

/**
 * Returns a seed of its own for each run, or the one that the environment variable MILLRACE_SEED names to repeat a run.
 */
export function chosenSeed(): number {
  const given = Number(process.env.MILLRACE_SEED);
  return given > 0 ? given : 1 + Math.floor(Math.random() * 0x7ffffffe);
}
