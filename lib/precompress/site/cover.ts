/** The length in bytes of counted texts: shorter ones are hardly worth a reference. By measurement, 6 and 12 are no better. */
const GRAM = 8;
/** The bytes of a block from which pieces are chosen. By measurement, 256 and 4096 cost more for their savings. */
const BLOCK = 1024;
/** The number of counters, a power of two; texts that share one are counted together. */
const SLOTS = 2 ** 22;
const MULTIPLIER = 0x9e3779b1;
/** The factor of the first byte of a gram in its hash, by which that byte is removed. */
const LEAVING = (() => {
  let power = 1;
  for (let i = 0; i < GRAM; i++) power = Math.imul(power, MULTIPLIER);
  return power;
})();
/** The number of blocks between two pauses. */
const TURN = 512;
/** The cost of a piece in addition to its grams, in grams: its ends, and references to earlier pieces. */
const CUT = 40;

/** The order in which pieces are chosen: by their value, or by value for each gram. Which is better depends on the site. */
export type Ranking = "value" | "density";

/** Lets other work have its turn; throws once the work is aborted. */
export type Pause = () => Promise<void>;

/** Joins pieces up to `size` bytes, the most valuable last, since near references take fewer bits. */
export function joinedPieces(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(Math.min(size, pieces.reduce((sum, { length }) => sum + length, 0)));
  let end = joined.length;
  for (const piece of pieces) {
    if (end === 0) break;
    const part = piece.subarray(0, end);
    joined.set(part, end - part.length);
    end -= part.length;
  }
  return joined;
}

interface Block {
  readonly bytes: Uint8Array;
  /** The block's rank when last computed. A rank by value can only decrease. */
  value: number;
}

/**
 * A greedy algorithm, like COVER, that finds shared text: a gram counts as often as other pages contain it, unless an
 * earlier piece contains it. See https://doi.org/10.1145/2882903.2915229.
 */
export class Cover {
  readonly #ranking: Ranking;
  /** The number of pages with a gram, minus one, by slot, until a piece contains it. */
  readonly #counts = new Uint16Array(SLOTS);
  /** The last page or check that had the gram, by slot. */
  readonly #seen = new Uint32Array(SLOTS);
  /** Whether a piece contains the gram, by slot. */
  readonly #held = new Uint8Array(SLOTS);
  #look = 0;

  constructor(ranking: Ranking) {
    this.#ranking = ranking;
  }

  /** Counts the grams of a page; pages are numbered from 0. */
  #count(page: Uint8Array, number: number): void {
    const mark = number + 1;
    eachGram(page, (slot) => {
      if (this.#seen[slot] === mark) return;
      // The first page with a gram needs no dictionary for it.
      if (this.#seen[slot] !== 0) this.#counts[slot]!++;
      this.#seen[slot] = mark;
    });
    this.#look = mark;
  }

  /** Chooses the pieces of pages with the most shared text, the best first, up to `most` bytes; deterministic. */
  async choose(pages: readonly Uint8Array[], most: number, pause: Pause): Promise<Uint8Array[]> {
    for (const [number, page] of pages.entries()) {
      this.#count(page, number);
      if (number % 64 === 63) await pause();
    }
    const heap = await this.#blocksOf(pages, pause);
    const pieces: Uint8Array[] = [];
    let total = 0;
    for (let looks = 1; heap.length > 0 && total < most; looks++) {
      if (looks % TURN === 0) await pause();
      const block = heap[0]!;
      const value = this.#valueOf(block.bytes);
      if (value === block.value && value > 0) {
        const piece = this.#trimmed(block.bytes);
        this.#hold(piece);
        pieces.push(piece);
        total += piece.length;
      } else {
        block.value = value;
        if (value > 0) {
          sink(heap, 0);
          continue;
        }
      }
      const last = heap.pop()!;
      if (heap.length === 0) break;
      heap[0] = last;
      sink(heap, 0);
    }
    return pieces;
  }

  async #blocksOf(pages: readonly Uint8Array[], pause: Pause): Promise<Block[]> {
    const blocks: Block[] = [];
    for (const page of pages) {
      for (let start = 0; start + GRAM <= page.length; start += BLOCK) {
        const bytes = page.subarray(start, start + BLOCK);
        blocks.push({ bytes, value: this.#valueOf(bytes) });
        if (blocks.length % TURN === 0) await pause();
      }
    }
    for (let i = blocks.length >> 1; i-- > 0;) sink(blocks, i);
    return blocks;
  }

  #valueOf(bytes: Uint8Array): number {
    const look = ++this.#look;
    let value = 0;
    let added = 0;
    eachGram(bytes, (slot) => {
      if (this.#seen[slot] === look) return;
      this.#seen[slot] = look;
      value += this.#counts[slot]!;
      added += 1 - this.#held[slot]!;
    });
    return this.#ranking === "value" ? value : value / (added + CUT);
  }

  /** Removes worthless ends of a piece. */
  #trimmed(bytes: Uint8Array): Uint8Array {
    let [first, last] = [-1, 0];
    eachGram(bytes, (slot, at) => {
      if (this.#counts[slot] === 0) return;
      if (first < 0) first = at;
      last = at;
    });
    return bytes.subarray(first, last + GRAM);
  }

  /** Marks the grams of `piece` as taken, so that they add no value to other pieces. */
  #hold(piece: Uint8Array): void {
    eachGram(piece, (slot) => {
      this.#counts[slot] = 0;
      this.#held[slot] = 1;
    });
  }
}

/** Calls `tell` with the slot and position of each gram. */
function eachGram(bytes: Uint8Array, tell: (slot: number, at: number) => void): void {
  let rolling = 0;
  for (let i = 0; i < bytes.length; i++) {
    rolling = Math.imul(rolling, MULTIPLIER) + bytes[i]! + 1 | 0;
    if (i >= GRAM) rolling = rolling - Math.imul(LEAVING, bytes[i - GRAM]! + 1) | 0;
    if (i < GRAM - 1) continue;
    let hash = Math.imul(rolling ^ rolling >>> 15, 0x2c1b3c6d);
    hash ^= hash >>> 12;
    tell(hash & SLOTS - 1, i - GRAM + 1);
  }
}

/** Restores the order of a heap, whose most valuable block is first, after the block at `index` may have lost value. */
function sink(heap: Block[], index: number): void {
  const block = heap[index]!;
  while (true) {
    let below = 2 * index + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && heap[below + 1]!.value > heap[below]!.value) below++;
    if (heap[below]!.value <= block.value) break;
    heap[index] = heap[below]!;
    index = below;
  }
  heap[index] = block;
}
