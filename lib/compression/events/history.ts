interface Kept {
  readonly id: string | undefined;
  readonly text: string;
}

/** The last events, within limits, for clients that connect again. */
export class History {
  readonly #mostEvents: number;
  readonly #mostLength: number;
  /** The newest is last. */
  #events: Kept[] = [];
  /** Events before it are dropped, and removed from the array now and then. */
  #first = 0;
  #length = 0;

  /**
   * @param mostEvents The number of events to keep.
   * @param mostLength The length of their texts together, in UTF-16 code units.
   */
  constructor(mostEvents: number, mostLength: number) {
    this.#mostEvents = mostEvents;
    this.#mostLength = mostLength;
  }

  add(id: string | undefined, text: string): void {
    this.#events.push({ id: id?.trim(), text }); // as it comes back in a header field
    this.#length += text.length;
    while (this.#events.length - this.#first > this.#mostEvents || this.#length > this.#mostLength) {
      this.#length -= this.#events[this.#first++].text.length;
    }
    if (this.#first * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }

  /** Returns where the events after the last one with that id begin; all that are kept if none has it any more. */
  startAfter(id: string): number {
    let start = this.#events.length;
    while (start > this.#first && this.#events[start - 1].id !== id.trim()) start--;
    return start;
  }

  /** Returns the events from there on. */
  textFrom(start: number): string {
    return this.#events.slice(start).map(({ text }) => text).join("");
  }
}
