/**
 * Yields chunks of `size` bytes or slightly more in total, made of the lines that `lineOf` returns without line
 * endings.
 */
export function* generatedLines(size: number, lineOf: (index: number) => string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let written = 0;
  for (let index = 0; written < size;) {
    const lines: string[] = [];
    for (const end = index + 4096; index < end; index++) lines.push(lineOf(index), "\n");
    const piece = encoder.encode(lines.join(""));
    yield piece;
    written += piece.length;
  }
}

/** A pseudorandom generator for one line, seeded by the line's index. */
export class LineChance {
  #state: number;

  constructor(index: number) {
    this.#state = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  }

  /** Returns a whole number from 0 on. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state ^ this.#state >>> 15, 0x2c1b3c6d) + 0x3c6ef372) >>> 0;
    return (this.#state >>> 8) % limit;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}
