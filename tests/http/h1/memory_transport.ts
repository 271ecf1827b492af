import { Buffer } from "node:buffer";
import type { Transport, TransportEvents } from "../../../lib/http/connection.ts";

/** A transport whose server is the test. Like real transports it calls no event within its own methods. */
export class MemoryTransport implements Transport {
  readonly alpnProtocol = "http/1.1";
  readonly remoteAddress = "127.0.0.1";
  /** Set by tests that play a slow network. */
  full = false;
  empty = true;

  get waiting(): number {
    return this.full ? 1 : 0;
  }

  /** The written data, one latin1 string a write. */
  readonly writes: string[] = [];
  paused = false;
  destroyed = false;
  ended = false;
  held = true;
  #events: TransportEvents = undefined as never; // set by attach
  #closed = false;

  /** All that was written. */
  get written(): string {
    return this.writes.join("");
  }

  /** Returns the writes since the previous call. */
  takeWritten(): string {
    return this.writes.splice(0).join("");
  }

  /** The server's bytes arrive, in one piece. */
  give(text: string): void {
    this.giveBytes(bytesOf(text));
  }

  /** Delivers the text as bytes, which the client then owns. */
  giveBytes(bytes: Uint8Array): void {
    this.#events.onData(bytes, true);
  }

  /** The server's bytes arrive, cut before each of these positions. */
  giveCut(text: string, cuts: readonly number[]): void {
    const bytes = bytesOf(text);
    let from = 0;
    for (const to of [...cuts, bytes.length]) {
      if (to > from) this.#events.onData(Uint8Array.from(bytes.subarray(from, to)), true);
      from = Math.max(from, to);
    }
  }

  /** Reports that the transport has room again. */
  drain(): void {
    this.full = false;
    this.#events.onDrain();
  }

  /** The server sends no more. */
  finish(): void {
    this.#events.onEnd();
  }

  /** Closes the socket. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.onClose(error);
  }

  attach(events: TransportEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array, tells: boolean = false): void {
    if (this.destroyed || this.ended) return;
    this.writes.push(textOf(bytes));
    if (tells && !this.full) queueMicrotask(() => this.#events.onDrain());
  }

  gather(): void {}

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  end(): void {
    this.ended = true;
  }

  leave(): void {
    this.destroy();
  }

  destroy(): void {
    this.destroyed = true;
    queueMicrotask(() => this.close());
  }

  keepProcess(alive: boolean): void {
    this.held = alive;
  }
}

/** Returns a string's bytes, one a code unit. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Bytes as a string with a code unit a byte. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
