import type { Http2Stream } from "./http2_stream.ts";
import { MAX_STREAM } from "./frame_types.ts";

/** The streams of a session that are under way, and which there were. */
export class StreamTable {
  /** By id, oldest first. */
  readonly byId: Map<number, Http2Stream> = new Map();
  /** How many were opened. */
  opened = 0;
  /** The id of the next. */
  next: number;

  /**
   * Makes an empty table.
   *
   * @param first The first stream's id.
   */
  constructor(first: number) {
    this.next = first;
  }

  /** How many are under way. */
  get size(): number {
    return this.byId.size;
  }

  /** Whether there are no ids left. */
  get isExhausted(): boolean {
    return this.next > MAX_STREAM;
  }

  /** Adds a stream, which has the id `next`. */
  add(stream: Http2Stream): void {
    this.byId.set(stream.id, stream);
    this.next += 2;
    this.opened++;
  }

  /** Whether the server may speak of this stream: one that we opened, though it may be over. */
  isKnown(id: number): boolean {
    return (id & 1) === 1 && id < this.next;
  }
}
