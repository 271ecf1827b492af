import { Buffer } from "node:buffer";
import type { Transport } from "../connection.ts";
import {
  ACK,
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  FRAME_HEADER,
  GOAWAY,
  HEADERS,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "./protocol.ts";

/** A slab's size: most connections never send much in a turn. It doubles each time a turn's frames do not fit. */
const SMALLEST_SLAB = 8192;
/** Eight DATA frames of the usual size. */
const LARGEST_SLAB = 8 * (16_384 + FRAME_HEADER);
/** A slab with less room is not written to any more. */
const LEAST_ROOM = 64;

/**
 * The frames we send, gathered so that a turn's make one write. They are written one behind the other into slabs; what went to the
 * transport belongs to it until it is empty, and the rest of the slab is used on.
 */
export class FrameOutput {
  /** How many bytes were ever added, and how many of them the transport has. */
  added = 0;
  written = 0;
  #slab: Uint8Array;
  /** Of the slab, the bytes from `start` to `at` are not written yet. */
  #start = 0;
  #at = 0;
  #size = SMALLEST_SLAB;
  readonly #transport: Transport;

  /** Makes an output that writes to the transport. */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.#slab = Buffer.allocUnsafeSlow(SMALLEST_SLAB);
  }

  /** Bytes that wait for {@linkcode flush}. */
  get waiting(): number {
    return this.added - this.written;
  }

  /** Whether one more frame of so many bytes fits into one write with what waits. */
  fits(length: number): boolean {
    return this.waiting + FRAME_HEADER + length <= LARGEST_SLAB;
  }

  /** Writes all buffered frames to the transport. */
  flush(): void {
    if (this.#at === this.#start) return;
    const bytes = this.#slab.subarray(this.#start, this.#at);
    this.written += bytes.length;
    this.#start = this.#at;
    this.#transport.write(bytes);
    if (!this.#rewind() && this.#slab.length - this.#at < LEAST_ROOM) this.#renew(0);
  }

  /** Forgets what the transport was not given. */
  discard(): void {
    this.added = this.written;
    this.#at = this.#start;
  }

  /** The transport has drained. */
  onDrain(): void {
    if (this.#at === this.#start) this.#rewind();
  }

  /**
   * Fills the slab anew, if the transport has done with what is in it: new memory for each write would have to be mapped by the
   * system, and collected (an upload takes twice the CPU time).
   *
   * @returns Whether it could.
   */
  #rewind(): boolean {
    if (!this.#transport.empty) return false;
    this.#start = 0;
    this.#at = 0;
    return true;
  }

  /** Nothing is under way: a large slab is not kept for it. */
  shrink(): void {
    if (this.#size === SMALLEST_SLAB || this.#at !== this.#start) return;
    this.#size = SMALLEST_SLAB;
    this.#renew(0);
  }

  /** A field block in HEADERS and, where it is longer than a frame may be, CONTINUATION. */
  addHeaders(stream: number, block: Uint8Array, length: number, maxFrameSize: number, endsStream: boolean): void {
    const flags = endsStream ? END_STREAM : 0;
    if (length <= maxFrameSize) {
      this.#begin(length, HEADERS, flags | END_HEADERS, stream);
      this.#copy(block, 0, length);
      return;
    }
    for (let at = 0; at < length; at += maxFrameSize) {
      const size = Math.min(maxFrameSize, length - at);
      const isLast = at + size === length;
      this.#begin(size, at === 0 ? HEADERS : CONTINUATION, (at === 0 ? flags : 0) | (isLast ? END_HEADERS : 0), stream);
      this.#copy(block, at, at + size);
    }
  }

  /** A DATA frame with a part of a piece; copied, so that the piece is the caller's again. */
  addData(stream: number, piece: Uint8Array, start: number, end: number, endsStream: boolean): void {
    this.#begin(end - start, 0, endsStream ? END_STREAM : 0, stream);
    this.#copy(piece, start, end);
  }

  /** RST_STREAM. */
  addReset(stream: number, code: number): void {
    this.#begin(4, RST_STREAM, 0, stream);
    this.#number(code);
  }

  /** WINDOW_UPDATE; stream 0 is the connection. */
  addWindow(stream: number, bytes: number): void {
    this.#begin(4, WINDOW_UPDATE, 0, stream);
    this.#number(bytes);
  }

  /** SETTINGS: identifier, value, and so on. None acknowledges the server's. */
  addSettings(entries: readonly number[]): void {
    this.#begin(entries.length * 3, SETTINGS, entries.length === 0 ? ACK : 0, 0);
    for (let i = 0; i < entries.length; i += 2) {
      this.#slab[this.#at++] = entries[i] >>> 8;
      this.#slab[this.#at++] = entries[i];
      this.added += 2;
      this.#number(entries[i + 1]);
    }
  }

  /** PING with a number of ours. */
  addPing(value: number): void {
    this.#begin(8, PING, 0, 0);
    this.#number(0);
    this.#number(value);
  }

  /** The answer to a PING, whose eight bytes are in the chunk. */
  addPingAnswer(chunk: Uint8Array, start: number): void {
    this.#begin(8, PING, ACK, 0);
    this.#copy(chunk, start, start + 8);
  }

  /** GOAWAY. We take no streams of the server, so the last is always 0. */
  addGoaway(code: number): void {
    this.#begin(8, GOAWAY, 0, 0);
    this.#number(0);
    this.#number(code);
  }

  /** Bytes that are no frame: the preface. */
  addBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#copy(bytes, 0, bytes.length);
  }

  #begin(length: number, type: number, flags: number, stream: number): void {
    this.#reserve(FRAME_HEADER + length);
    const slab = this.#slab;
    const at = this.#at;
    slab[at] = length >>> 16;
    slab[at + 1] = length >>> 8;
    slab[at + 2] = length;
    slab[at + 3] = type;
    slab[at + 4] = flags;
    slab[at + 5] = stream >>> 24;
    slab[at + 6] = stream >>> 16;
    slab[at + 7] = stream >>> 8;
    slab[at + 8] = stream;
    this.#at = at + FRAME_HEADER;
    this.added += FRAME_HEADER;
  }

  #number(value: number): void {
    const slab = this.#slab;
    const at = this.#at;
    slab[at] = value >>> 24;
    slab[at + 1] = value >>> 16;
    slab[at + 2] = value >>> 8;
    slab[at + 3] = value;
    this.#at = at + 4;
    this.added += 4;
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    const slab = this.#slab;
    let at = this.#at;
    this.added += end - start;
    // A loop is faster than subarray() and set() for what is short.
    if (end - start > 64) {
      slab.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), at);
      at += end - start;
    } else {
      for (let i = start; i < end; i++) slab[at++] = bytes[i];
    }
    this.#at = at;
  }

  /** Makes room for so many bytes in one slab: what waits moves to a larger one, or is written if there is none. */
  #reserve(size: number): void {
    if (this.#slab.length - this.#at >= size) return;
    const waiting = this.#slab.subarray(this.#start, this.#at);
    if (waiting.length + size > LARGEST_SLAB) {
      this.flush();
      if (this.#slab.length - this.#at < size) this.#renew(size);
      return;
    }
    while (this.#size < waiting.length + size) this.#size = Math.min(this.#size * 2, LARGEST_SLAB);
    this.#renew(0);
    this.#slab.set(waiting);
    this.#at = waiting.length;
  }

  #renew(size: number): void {
    this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#size, size));
    this.#start = 0;
    this.#at = 0;
  }
}
