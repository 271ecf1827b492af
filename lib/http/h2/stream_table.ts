import { MAX_STREAM } from "./frame_types.ts";
import type { Http2Stream } from "./http2_stream.ts";

/** Slots at first; always a power of two, and at least twice as many as streams. */
const SLOTS = 64;

/**
 * The streams of a session that are under way, and which there were.
 *
 * Not a Map, of which V8 makes a new one every so many entries, each linked from the one before for the sake of iterators: once
 * one of them is in the old generation, all streams that came later, with all that they hold, outlive their time (a fifth of
 * the CPU time of a busy session was spent on moving them). Ids follow each other, so that a slot is nearly always free.
 */
export class StreamTable {
  /** How many are under way. */
  size = 0;
  /** How many were opened. */
  opened = 0;
  /** The id of the next. */
  next: number;
  #slots: (Http2Stream | undefined)[] = emptySlots(SLOTS);

  /**
   * Makes an empty table.
   *
   * @param first The first stream's id.
   */
  constructor(first: number) {
    this.next = first;
  }

  /** Whether there are no ids left. */
  get isExhausted(): boolean {
    return this.next > MAX_STREAM;
  }

  /** The stream of an id, if it is under way. */
  get(id: number): Http2Stream | undefined {
    return this.#slots[this.#find(id)];
  }

  /** All that are under way now, oldest first. */
  all(): Http2Stream[] {
    return this.#slots.filter((stream) => stream !== undefined).sort((a, b) => a.id - b.id);
  }

  /** Adds a stream, which has the id `next`. */
  add(stream: Http2Stream): void {
    if (++this.size * 2 > this.#slots.length) this.#grow();
    this.#slots[this.#find(stream.id)] = stream;
    this.next += 2;
    this.opened++;
  }

  /** Removes a stream. Does nothing if it is not there. */
  delete(id: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let free = this.#find(id);
    if (slots[free] === undefined) return;
    this.size--;
    slots[free] = undefined;
    // Those behind it that are not where they belong move up, so that nothing is behind a gap.
    for (let at = (free + 1) & mask; slots[at] !== undefined; at = (at + 1) & mask) {
      const home = (slots[at]!.id >>> 1) & mask;
      if (((at - home) & mask) < ((at - free) & mask)) continue;
      slots[free] = slots[at];
      slots[at] = undefined;
      free = at;
    }
  }

  /** Whether the server may speak of this stream: one that we opened, though it may be over. */
  isKnown(id: number): boolean {
    return (id & 1) === 1 && id < this.next;
  }

  /** The slot that a stream is in, or the empty one that it would be in. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (id >>> 1) & mask;
    for (let stream = slots[at]; stream !== undefined && stream.id !== id; stream = slots[at]) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const streams = this.#slots;
    this.#slots = emptySlots(streams.length * 2);
    for (const stream of streams) {
      if (stream !== undefined) this.#slots[this.#find(stream.id)] = stream;
    }
  }
}

function emptySlots(length: number): (Http2Stream | undefined)[] {
  return new Array<Http2Stream | undefined>(length).fill(undefined);
}
