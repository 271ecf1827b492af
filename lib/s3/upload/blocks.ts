/** Bytes of a block. */
export const BLOCK: number = 256 * 1024;

/** Memory that the parts of all uploads share: blocks of one size, as many as there may be. */
export class Blocks {
  readonly #most: number;
  #used = 0;
  #free: Uint8Array[] = [];

  constructor(bytes: number) {
    this.#most = Math.floor(bytes / BLOCK);
  }

  /** How many are in use. */
  get used(): number {
    return this.#used;
  }

  /** A block; undefined if all are in use. */
  take(): Uint8Array | undefined {
    if (this.#used >= this.#most) return undefined;
    this.#used++;
    return this.#free.pop() ?? new Uint8Array(BLOCK);
  }

  /** Gives blocks back, which nobody reads or writes any more. */
  give(blocks: readonly Uint8Array[]): void {
    this.#used -= blocks.length;
    if (this.#used === 0) this.#free = []; // nobody uploads: the memory is the program's
    else this.#free.push(...blocks);
  }
}
