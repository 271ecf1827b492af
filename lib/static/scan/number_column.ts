/** How much larger a column gets that is full. */
export const GROWTH = 1.5;

/** A list of numbers that grows in place: an array leaves its former, smaller self behind whenever it grows. */
export class NumberColumn {
  #values: Float64Array<ArrayBuffer> = new Float64Array(512);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      // Moved, not copied: the former memory is free at once.
      const bytes = Math.ceil(this.#length * GROWTH) * Float64Array.BYTES_PER_ELEMENT;
      this.#values = new Float64Array(this.#values.buffer.transfer(bytes));
    }
    this.#values[this.#length++] = value;
  }

  /** The number at `index`, which is one below {@linkcode length}. */
  at(index: number): number {
    return this.#values[index];
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}
