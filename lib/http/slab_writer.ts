import { Buffer } from "node:buffer";
import type { Transport } from "./connection.ts";

/** The initial size of a slab, with room for a head and a small body. It doubles each time that gathered bytes do not fit. */
export const FIRST_SLAB = 8192;

/** The minimum room in bytes of a full-size slab that is still filled while the transport has earlier bytes. */
const LEAST_ROOM = 256;

/**
 * A writer that gathers small pieces in slabs. Bytes passed to the transport belong to it until it is empty; the slab's rest is used further, since new memory for each
 * write takes twice the CPU time.
 */
export class SlabWriter {
  written = 0;
  /** Whether the next write reports when it is sent, as in {@link Transport.write}. */
  tells = false;
  protected slab: Uint8Array = Buffer.allocUnsafeSlow(FIRST_SLAB);
  /** The end of the slab's unwritten bytes, which begin at `#start`. */
  protected at = 0;
  #start = 0;
  #size = FIRST_SLAB;
  readonly #transport: Transport;
  readonly #largest: number;

  /** @param largest The maximum size of a slab and of a write. */
  constructor(transport: Transport, largest: number) {
    this.#transport = transport;
    this.#largest = largest;
  }

  /** The number of written bytes that the system has taken. */
  get taken(): number {
    return this.written - this.#transport.waiting;
  }

  get waiting(): number {
    return this.at - this.#start;
  }

  /** Whether `bytes` more bytes fit into one write with the unwritten ones. */
  fits(bytes: number): boolean {
    return this.waiting + bytes <= this.#largest;
  }

  /** Copies the bytes from `start` on that fit into one write; returns the index after the last of them. */
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

  /** Releases a large slab while no request is in progress. */
  shrink(): void {
    if (this.#size === FIRST_SLAB || this.waiting > 0) return;
    this.slab = Buffer.allocUnsafeSlow(this.#size = FIRST_SLAB);
    this.#start = this.at = 0;
  }

  /** Makes room for `bytes` bytes in one slab: unwritten bytes move to a larger one, or are written if there is none. */
  protected reserve(bytes: number): void {
    if (this.at === this.#start) this.#rewind(); // this memory is in the processor's caches
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
    // A loop is faster than subarray() and set() for few bytes.
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

  /** Fills the slab from its start again, if the transport no longer uses its bytes. */
  #rewind(): void {
    if (this.#start === 0 || !this.#transport.empty) return;
    if (this.waiting > 0) this.slab.copyWithin(0, this.#start, this.at);
    this.at = this.waiting;
    this.#start = 0;
  }
}
