import { freshBytes } from "./fresh_bytes.ts";

/** A chunk that is a smaller part of its memory than this is copied, so that it does not hold all of that. */
const LEAST_SHARE = 1 / 5;
/** So many chunks are kept as they are: most bodies have no more. */
const MOST_KEPT = 4;
/** The memory into which small chunks are gathered, in bytes; less while there is less. */
const MOST_GATHERED = 16 * 1024;
const LEAST_GATHERED = 1024;

/** Bytes in pieces, appended at the end and taken from the front. */
export class ChunkList {
  #chunks: Uint8Array[] = [];
  #first = 0;
  #length = 0;
  /** Memory of ours that the last chunk lies in, or undefined. */
  #gathering: Uint8Array | undefined = undefined;
  /** How much of that is in use. */
  #gathered = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** Appends a view. It is kept, or copied if it is one of many small ones. */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#chunks.length >= MOST_KEPT && chunk.length < chunk.buffer.byteLength * LEAST_SHARE) {
      this.#gather(chunk);
    } else {
      this.#gathering = undefined;
      this.#chunks.push(chunk);
    }
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
    return this.copyAll();
  }

  /** All of it in one piece that nobody else has. */
  copyAll(): Uint8Array<ArrayBuffer> {
    const whole = freshBytes(this.#length);
    this.takeInto(whole);
    return whole;
  }

  /** The pieces; whoever gets them must not change them. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks.slice(this.#first);
  }

  /** Drops everything. */
  clear(): void {
    this.#chunks = [];
    this.#first = 0;
    this.#length = 0;
    this.#gathering = undefined;
  }

  #gather(chunk: Uint8Array): void {
    const chunks = this.#chunks;
    const last = chunks.length - 1;
    if (this.#gathering !== undefined && this.#gathered + chunk.length <= this.#gathering.length) {
      this.#gathering.set(chunk, this.#gathered);
      this.#gathered += chunk.length;
      // The chunk's beginning may have been taken meanwhile.
      const start = chunks[last].byteOffset;
      chunks[last] = this.#gathering.subarray(start, this.#gathered);
      return;
    }
    const size = Math.min(Math.max(this.#length, LEAST_GATHERED), MOST_GATHERED);
    this.#gathering = new Uint8Array(Math.max(size, chunk.length));
    this.#gathering.set(chunk);
    this.#gathered = chunk.length;
    chunks.push(this.#gathering.subarray(0, chunk.length));
  }
}
