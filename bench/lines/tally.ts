/** A counter of the items at the end of a pipeline: the work of every consumer here. */
export class Tally {
  #items = 0;
  #total = 0;

  readonly line = (line: string): void => {
    this.#items++;
    this.#total += line.length;
  };

  readonly number = (number: number): void => {
    this.#items++;
    this.#total += number;
  };

  /** Counts the total of bytes only: they may come in any chunks. */
  readonly bytes = (chunk: Uint8Array): void => {
    this.#total += chunk.length;
  };

  /** The counts as one line, for comparison. */
  get result(): string {
    return `${this.#items} items, ${this.#total} in all`;
  }
}
