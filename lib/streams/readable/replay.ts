import { cloneAsUint8Array } from "../language/array_buffers.ts";
import { Ring } from "../queuing/chunk_queue.ts";

/** A chunk of a replay and the position behind it. */
interface Replayed {
  readonly chunk: unknown;
  readonly size: number;
  readonly next: number;
}

/** The newest part of a stream, by position, for branches of a broadcast that are added later. */
export interface Replay {
  /** The position of the oldest kept chunk or byte. */
  readonly first: number;
  /** The position of the next chunk or byte to arrive. */
  readonly end: number;
  /** Adds a chunk, and removes the oldest ones beyond the limit, except those from the position `needed` on. */
  add(chunk: unknown, size: number, needed: number): void;
  /** Whether a chunk can be added without removing those from a position on. */
  hasRoomBehind(position: number): boolean;
  /** Returns the content from a position on, as one chunk. */
  at(position: number): Replayed;
}

/** A replay of chunks, whose positions are their numbers from 0 on. */
export class ChunkReplay implements Replay {
  first = 0;
  readonly #limit: number;
  readonly #chunks = new Ring<unknown>();
  readonly #sizes = new Ring<number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get end(): number {
    return this.first + this.#chunks.length;
  }

  add(chunk: unknown, size: number, needed: number): void {
    this.#chunks.push(chunk);
    this.#sizes.push(size);
    this.#total += size || 1; // an endless sequence of chunks of size 0 must reach the limit, too
    while (this.first < Math.min(needed, this.end) && this.#total > this.#limit) {
      this.#chunks.shift();
      this.#total -= this.#sizes.shift() || 1;
      this.first++;
    }
    if (this.first === this.end) this.#total = 0; // removes rounding errors of fractional sizes
  }

  hasRoomBehind(position: number): boolean {
    return this.first < position || this.#total < this.#limit;
  }

  at(position: number): Replayed {
    const index = position - this.first;
    return { chunk: this.#chunks.at(index), size: this.#sizes.at(index), next: position + 1 };
  }
}

const BLOCK_SIZE = 4096;

/** A replay of bytes, in blocks: a small chunk in a separate buffer would take several times its size. */
export class ByteReplay implements Replay {
  first = 0;
  end = 0;
  readonly #limit: number;
  /** The blocks from that of `first` on; the position of each one's first byte is a multiple of the block size. */
  readonly #blocks = new Ring<Uint8Array>();

  constructor(limit: number) {
    this.#limit = Math.floor(limit);
  }

  add(chunk: Uint8Array, _size: number, needed: number): void {
    const { end, first } = this;
    this.end += chunk.length;
    this.first = Math.max(first, Math.min(this.end - this.#limit, needed));
    for (let gone = blockOf(this.first) - blockOf(first); gone > 0 && this.#blocks.length > 0; gone--) {
      this.#blocks.shift();
    }
    for (let position = Math.max(this.first, end); position < this.end;) {
      const start = position % BLOCK_SIZE;
      if (start === 0 || this.#blocks.length === 0) this.#blocks.push(new Uint8Array(BLOCK_SIZE));
      const piece = chunk.subarray(position - end, position - end + BLOCK_SIZE - start);
      this.#blocks.at(this.#blocks.length - 1).set(piece, start);
      position += piece.length;
    }
  }

  hasRoomBehind(position: number): boolean {
    return this.first < position || this.end - this.first < this.#limit;
  }

  at(position: number): Replayed {
    const start = position % BLOCK_SIZE;
    const block = this.#blocks.at(blockOf(position) - blockOf(this.first));
    const chunk = cloneAsUint8Array(block.subarray(start, start + this.end - position));
    return { chunk, size: chunk.length, next: position + chunk.length };
  }
}

function blockOf(position: number): number {
  return Math.floor(position / BLOCK_SIZE);
}
