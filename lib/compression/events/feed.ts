/** The latest events, within limits, for clients that reconnect. */
export class History {
  readonly #mostEvents: number;
  readonly #mostLength: number;
  /** The events, newest last. */
  #events: { readonly id: string | undefined; readonly text: string }[] = [];
  /** The index of the first valid event; earlier ones are dropped, and removed from the array at intervals. */
  #first = 0;
  #length = 0;

  /** Keeps up to `mostEvents` events, whose texts together have up to `mostLength` UTF-16 code units. */
  constructor(mostEvents: number, mostLength: number) {
    this.#mostEvents = mostEvents;
    this.#mostLength = mostLength;
  }

  add(id: string | undefined, text: string): void {
    this.#events.push({ id: id?.trim(), text }); // trimmed, as in a header field
    this.#length += text.length;
    while (this.#events.length - this.#first > this.#mostEvents || this.#length > this.#mostLength) {
      this.#length -= this.#events[this.#first++].text.length;
    }
    if (this.#first * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }

  /** Returns the index behind the last event with that id; the first index if no event has it. */
  startAfter(id: string): number {
    let start = this.#events.length;
    while (start > this.#first && this.#events[start - 1].id !== id.trim()) start--;
    return start;
  }

  textFrom(start: number): string {
    return this.#events.slice(start).map(({ text }) => text).join("");
  }
}

export interface Subscriber {
  /** The feed's state about the subscriber. */
  readonly place: Place;
  /** Sends shared `bytes`; returns whether the reader keeps up. Bytes sent while none are pending do not count. */
  write(bytes: Uint8Array): boolean;
  end(bytes: Uint8Array): void;
  /** Closes the connection. */
  drop(reason: string): void;
}

export interface Place {
  /** Whether the reader is inside a part of the coding that must be ended. */
  isWithin: boolean;
  /** gzip's checksum of the text sent before the subscriber joined; after that, XORed with the channel's at that time. */
  crc: number;
  /** The length in bytes of the text sent before the subscriber joined. */
  length: number;
  /** The length of the channel's text when the subscriber joined. */
  joinedAt: number;
}

/** The encoded text that a subscriber gets before it joins the feed. */
export interface Opening {
  readonly bytes: Uint8Array;
  readonly crc: number;
  /** The length of the text in bytes. */
  readonly length: number;
}

/** The events of a channel in one content coding, encoded once for all readers of it. */
export interface Feed {
  /** Encodes text for a subscriber that is about to join. */
  open(text: Uint8Array): Opening;
  /** Sends a subscriber all texts from the next one on; without `opening` if it rejoins. */
  join(subscriber: Subscriber, opening?: Opening): void;
  /** Stops sending texts to a subscriber until it rejoins. */
  leave(subscriber: Subscriber): void;
  /** Sends text to all subscribers, and returns those that don't keep up. */
  send(text: Uint8Array): Subscriber[];
  /** Returns the bytes that complete a subscriber's response. */
  ending(subscriber: Subscriber): Uint8Array;
  close(): void;
}

const NOTHING = new Uint8Array(0);

export class PlainBroadcast implements Feed {
  readonly #subscribers = new Set<Subscriber>();

  open(text: Uint8Array): Opening {
    return { bytes: text, crc: 0, length: 0 };
  }

  join(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
  }

  leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  send(text: Uint8Array): Subscriber[] {
    const slow: Subscriber[] = [];
    for (const subscriber of this.#subscribers) if (!subscriber.write(text)) slow.push(subscriber);
    return slow;
  }

  ending(): Uint8Array {
    return NOTHING;
  }

  close(): void {
    this.#subscribers.clear();
  }
}
