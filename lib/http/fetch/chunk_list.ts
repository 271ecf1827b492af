/** Bytes in pieces, taken from the front. */
export class ChunkList {
  #chunks: Uint8Array[] = [];
  #first = 0;
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** Appends a view, which is kept. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The first piece, at most so long; undefined if there is none. */
  take(most: number): Uint8Array | undefined {
    const chunk = this.#chunks[this.#first];
    if (chunk === undefined) return undefined;
    if (chunk.length > most) {
      this.#chunks[this.#first] = chunk.subarray(most);
      this.#length -= most;
      return chunk.subarray(0, most);
    }
    this.#length -= chunk.length;
    this.#first++;
    if (this.#first === this.#chunks.length) this.clear();
    return chunk;
  }

  /** Fills a buffer as far as there is something; returns how many bytes that were. */
  takeInto(target: Uint8Array): number {
    let length = 0;
    while (length < target.length) {
      const chunk = this.take(target.length - length);
      if (chunk === undefined) break;
      target.set(chunk, length);
      length += chunk.length;
    }
    return length;
  }

  /** All of it in one piece, which may be a view of what was pushed. */
  takeAll(): Uint8Array {
    if (this.#chunks.length - this.#first === 1) return this.take(Infinity)!;
    const whole = new Uint8Array(this.#length);
    this.takeInto(whole);
    return whole;
  }

  /** Drops everything. */
  clear(): void {
    this.#chunks = [];
    this.#first = 0;
    this.#length = 0;
  }
}
