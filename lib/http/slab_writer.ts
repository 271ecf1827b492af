import { Buffer } from "node:buffer";
import type { Transport } from "./connection.ts";

/** A slab's size at first, with room for a head and a small body. It doubles each time what is gathered does not fit. */
export const FIRST_SLAB = 8192;

/** The least room, in bytes, that a slab of the largest size is filled for, while the transport has what is before it. */
const LEAST_ROOM = 256;

/** A writer that gathers small pieces in slabs. What went to the transport belongs to it until that is empty; the rest of a slab is used on, as new memory for each write takes twice the CPU time. */
export class SlabWriter {
  written = 0;
  /** Whether the next write tells when it is out, as in {@link Transport.write}. */
  tells = false;
  protected slab: Uint8Array = Buffer.allocUnsafeSlow(FIRST_SLAB);
  /** The end of the bytes of the slab from `#start` that are not written yet. */
  protected at = 0;
  #start = 0;
  #size = FIRST_SLAB;
  readonly #transport: Transport;
  readonly #largest: number;

  /** @param largest The largest size of a slab, and of a write. */
  constructor(transport: Transport, largest: number) {
    this.#transport = transport;
    this.#largest = largest;
  }

  /** The bytes of all that were written which the system has taken. */
  get taken(): number {
    return this.written - this.#transport.waiting;
  }

  get waiting(): number {
    return this.at - this.#start;
  }

  /** Whether so many more bytes fit into one write with what waits. */
  fits(bytes: number): boolean {
    return this.waiting + bytes <= this.#largest;
  }

  /** Copies the bytes from `start` on, as many as fit into one write; returns the index after the last of them. */
  put(bytes: Uint8Array, start: number): number {
    let count = Math.min(bytes.length - start, this.#largest - this.waiting);
    if (!this.#hasRoom(count)) this.#rewind();
    // Two writes cost less than new memory.
    if (this.#size === this.#largest && this.#hasRoom(LEAST_ROOM)) count = Math.min(count, this.slab.length - this.at);
    this.reserve(count);
    this.copy(bytes, start, start + count);
    return start + count;
  }

  putLine(line: string): void {
    this.reserve(line.length);
    for (let i = 0; i < line.length; i++) this.slab[this.at++] = line.charCodeAt(i);
  }

  flush(): void {
    if (this.at === this.#start) return;
    const bytes = this.slab.subarray(this.#start, this.at);
    this.written += bytes.length;
    this.#start = this.at;
    this.#transport.write(bytes, this.tells);
    this.tells = false;
    this.#rewind();
  }

  discard(): void {
    this.at = this.#start;
  }

  /** Nothing is under way: a large slab is not kept for it. */
  shrink(): void {
    if (this.#size === FIRST_SLAB || this.waiting > 0) return;
    this.slab = Buffer.allocUnsafeSlow(this.#size = FIRST_SLAB);
    this.#start = this.at = 0;
  }

  /** Makes room for so many bytes in one slab: what waits moves to a larger one, or is written if there is none. */
  protected reserve(bytes: number): void {
    if (this.at === this.#start) this.#rewind(); // such memory is in the processor's caches
    if (this.#hasRoom(bytes)) return;
    if (this.fits(bytes)) this.#rewind();
    else this.flush();
    if (this.#hasRoom(bytes)) return;
    const waiting = this.slab.subarray(this.#start, this.at);
    while (this.#size < waiting.length + bytes && this.#size < this.#largest) {
      this.#size = Math.min(this.#size * 2, this.#largest);
    }
    this.slab = Buffer.allocUnsafeSlow(Math.max(this.#size, bytes));
    this.slab.set(waiting);
    this.at = waiting.length;
    this.#start = 0;
  }

  protected copy(bytes: Uint8Array, start: number, end: number): void {
    const { slab } = this;
    let { at } = this;
    // A loop is faster than subarray() and set() for what is short.
    if (end - start > 64) {
      slab.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), at);
      at += end - start;
    } else {
      for (let i = start; i < end; i++) slab[at++] = bytes[i];
    }
    this.at = at;
  }

  #hasRoom(bytes: number): boolean {
    return this.slab.length - this.at >= bytes;
  }

  /** Fills the slab from its start, if the transport has done with what is in it. */
  #rewind(): void {
    if (this.#start === 0 || !this.#transport.empty) return;
    if (this.waiting > 0) this.slab.copyWithin(0, this.#start, this.at);
    this.at = this.waiting;
    this.#start = 0;
  }
}
