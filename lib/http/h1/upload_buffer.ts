import { Buffer } from "node:buffer";
import type { Transport } from "../transport.ts";

/** Enough for a head and a small body. */
const SMALL = 8 * 1024;
/** A slab with less room is not filled any further. */
const LEAST_ROOM = 256;
/** Enough for a piece of the size that most sources give, with its chunk's lines. Larger writes cost no less a byte. */
const LARGE = 64 * 1024 + LEAST_ROOM;

/**
 * Gathers what a request sends, so that many small pieces make few writes. Everything is copied: a source may use its memory again
 * once it is asked for the next piece. The copy goes into memory that is there already: with new memory for each write, which the
 * system has to map, an upload takes twice the time.
 */
export class UploadBuffer {
  readonly #transport: Transport;
  #slab: Buffer = Buffer.allocUnsafeSlow(SMALL);
  /** Of the slab, the bytes from `start` to `at` are not written yet. Those before may still be the transport's. */
  #start = 0;
  #at = 0;

  /** Creates an empty buffer. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Takes a request's head, to which nobody writes again. */
  begin(head: Uint8Array): void {
    if (head.length > SMALL / 2) this.#transport.write(head);
    else this.put(head, 0);
  }

  /**
   * Takes as many bytes as there is room for.
   *
   * @param from The first of them.
   * @returns The one after the last that was taken.
   */
  put(bytes: Uint8Array, from: number): number {
    this.#makeRoom();
    const to = Math.min(bytes.length, from + this.#slab.length - this.#at);
    this.#slab.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), this.#at);
    this.#at += to - from;
    return to;
  }

  /** Takes a short line of ASCII; writes what was there before, if there is no room. */
  putLine(line: string): void {
    if (this.#slab.length - this.#at < line.length) this.flush();
    this.#makeRoom();
    for (let i = 0; i < line.length; i++) this.#slab[this.#at++] = line.charCodeAt(i);
  }

  /** Gives the transport everything. There is room then. */
  flush(): void {
    if (this.#at === this.#start) return;
    this.#transport.write(this.#slab.subarray(this.#start, this.#at));
    this.#start = this.#at;
  }

  /** When all is written: fills the slab anew if the transport has done with what is in it, or else a new one once it is full. */
  #makeRoom(): void {
    if (this.#at !== this.#start || this.#at === 0) return;
    const isFull = this.#slab.length - this.#at < LEAST_ROOM;
    // Whoever has filled a small one has more to send.
    if (isFull && (this.#slab.length < LARGE || !this.#transport.empty)) this.#slab = Buffer.allocUnsafeSlow(LARGE);
    else if (!this.#transport.empty) return;
    this.#start = 0;
    this.#at = 0;
  }
}
