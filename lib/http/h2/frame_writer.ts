import type { Transport } from "../connection.ts";
import { SlabWriter } from "../slab_writer.ts";
import * as h2 from "./protocol.ts";

/** Eight DATA frames of the usual size. */
const MAX_SLAB = 8 * (16_384 + h2.FRAME_HEADER);

export class FrameWriter extends SlabWriter {
  constructor(transport: Transport) {
    super(transport, MAX_SLAB);
  }

  get added(): number {
    return this.written + this.waiting;
  }

  /** Adds a field block as HEADERS and, if it exceeds a frame, CONTINUATION. */
  addHeaders(stream: number, block: Uint8Array, length: number, maxFrameSize: number, endsStream: boolean): void {
    for (let at = 0; at < length; at += maxFrameSize) {
      const end = Math.min(length, at + maxFrameSize);
      const flags = (at === 0 && endsStream ? h2.END_STREAM : 0) | (end === length ? h2.END_HEADERS : 0);
      this.#begin(end - at, at === 0 ? h2.HEADERS : h2.CONTINUATION, flags, stream);
      this.copy(block, at, end);
    }
  }

  /** Adds a DATA frame with a part of a piece, which is copied, so that the caller may reuse its memory. */
  addData(stream: number, piece: Uint8Array, start: number, end: number, endsStream: boolean): void {
    this.#begin(end - start, 0, endsStream ? h2.END_STREAM : 0, stream);
    this.copy(piece, start, end);
  }

  addReset(stream: number, code: number): void {
    this.#begin(4, h2.RST_STREAM, 0, stream);
    this.#number(code);
  }

  /** Adds a WINDOW_UPDATE; stream 0 is the connection. */
  addWindow(stream: number, bytes: number): void {
    this.#begin(4, h2.WINDOW_UPDATE, 0, stream);
    this.#number(bytes);
  }

  /** Adds SETTINGS: identifier, value, and so on. An empty list acknowledges the server's. */
  addSettings(entries: readonly number[]): void {
    this.#begin(entries.length * 3, h2.SETTINGS, entries.length === 0 ? h2.ACK : 0, 0);
    for (let i = 0; i < entries.length; i += 2) {
      this.slab[this.at++] = entries[i] >>> 8;
      this.slab[this.at++] = entries[i];
      this.#number(entries[i + 1]);
    }
  }

  addPing(value: number): void {
    this.#begin(8, h2.PING, 0, 0);
    this.#number(0);
    this.#number(value);
  }

  addPingAnswer(chunk: Uint8Array, start: number): void {
    this.#begin(8, h2.PING, h2.ACK, 0);
    this.copy(chunk, start, start + 8);
  }

  /** Adds GOAWAY. A client accepts no streams of the server, so the last stream is always 0. */
  addGoaway(code: number): void {
    this.#begin(8, h2.GOAWAY, 0, 0);
    this.#number(0);
    this.#number(code);
  }

  #begin(length: number, type: number, flags: number, stream: number): void {
    this.reserve(h2.FRAME_HEADER + length);
    this.#number((length << 8) | type);
    this.slab[this.at++] = flags;
    this.#number(stream);
  }

  #number(value: number): void {
    const slab = this.slab;
    const at = this.at;
    slab[at] = value >>> 24;
    slab[at + 1] = value >>> 16;
    slab[at + 2] = value >>> 8;
    slab[at + 3] = value;
    this.at = at + 4;
  }
}
