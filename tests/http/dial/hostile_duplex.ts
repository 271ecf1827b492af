import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import type { HttpConnectFunction } from "../../../lib/http/mod.ts";
import type { SeededRandom } from "../faults/seeded_random.ts";

/**
 * A stream over a socket that does all that a Duplex may: it sends what it took later, in other pieces; says that it took something before
 * it was sent, or long after; is corked now and then; holds the writer back; and uses the memory of chunks for itself once they are
 * sent, or gives it away.
 */
class HostileDuplex extends Duplex {
  readonly #socket: Socket;
  readonly #random: SeededRandom;
  /** The accepted chunks that are not yet sent, with their callbacks. */
  readonly #taken: { chunk: Uint8Array; done: () => void }[] = [];
  /** Bytes of the server that are not given on yet. */
  readonly #received: Uint8Array[] = [];
  #sends = false;
  #gives = false;
  #onSent: (() => void) | undefined = undefined;

  constructor(socket: Socket, random: SeededRandom) {
    super({ highWaterMark: random.pick([1, 100, 16_384, 100_000]) });
    this.#socket = socket;
    this.#random = random;
    socket.on("data", (chunk: Uint8Array) => {
      this.#received.push(chunk);
      void this.#give();
    });
    socket.on("end", () => {
      this.#received.push(Buffer.alloc(0));
      void this.#give();
    });
    socket.on("error", (error) => this.destroy(error)).on("close", () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _: string, done: () => void): void {
    this.#take([chunk], done);
  }

  override _writev(chunks: { chunk: Uint8Array }[], done: () => void): void {
    this.#take(chunks.map(({ chunk }) => chunk), done);
  }

  override _final(done: () => void): void {
    this.#onSent = () => this.#socket.end(done);
    void this.#send();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(chunks: Uint8Array[], done: () => void): void {
    const isEarly = this.#random.chance(0.5);
    for (const chunk of chunks) this.#taken.push({ chunk, done: () => {} });
    if (!isEarly) this.#taken.at(-1)!.done = done;
    if (this.#random.chance(0.1)) {
      this.cork();
      void this.#wait().then(() => this.uncork());
    }
    void this.#send();
    if (isEarly) void this.#wait().then(done);
  }

  async #send(): Promise<void> {
    if (this.#sends) return;
    this.#sends = true;
    for (let next = this.#taken.shift(); next !== undefined; next = this.#taken.shift()) {
      const { chunk, done } = next;
      for (const piece of this.#pieces(chunk)) {
        await this.#wait();
        if (this.destroyed) return;
        if (!this.#socket.write(Uint8Array.from(piece)) && this.#random.chance(0.5)) await this.#drained();
      }
      this.#use(chunk);
      done();
    }
    this.#sends = false;
    this.#onSent?.();
  }

  async #give(): Promise<void> {
    if (this.#gives) return;
    this.#gives = true;
    for (let chunk = this.#received.shift(); chunk !== undefined; chunk = this.#received.shift()) {
      if (chunk.length === 0) this.push(null);
      for (const piece of this.#pieces(chunk)) {
        await this.#wait();
        if (this.destroyed) return;
        if (!this.push(piece) && this.#random.chance(0.5)) this.#socket.pause();
      }
    }
    this.#gives = false;
  }

  /** Cuts bytes into a few pieces, or into none but itself. */
  #pieces(bytes: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let start = 0;
    const most = this.#random.pick([0, 0, 1, 4]);
    for (let cuts = this.#random.below(most + 1); cuts > 0; cuts--) {
      const end = start + this.#random.below(bytes.length - start + 1);
      if (end > start) pieces.push(bytes.subarray(start, end));
      start = end;
    }
    if (start < bytes.length) pieces.push(bytes.subarray(start));
    return pieces;
  }

  /** Overwrites or detaches a chunk's memory, as its owner may. */
  #use(chunk: Uint8Array): void {
    if (this.#random.chance(0.5)) chunk.fill(0xee);
    if (!this.#random.chance(0.2)) return;
    try {
      structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] });
    } catch {
      // Memory that the runtime shares among buffers cannot be transferred.
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.once("drain", resolve).once("close", resolve));
  }

  /** Waits for a moment of some kind, or not at all. */
  #wait(): Promise<void> {
    const kind = this.#random.below(12);
    if (kind === 0) return new Promise((resolve) => setTimeout(resolve, this.#random.below(4)));
    if (kind < 3) return new Promise((resolve) => setImmediate(resolve));
    if (kind < 5) return new Promise((resolve) => process.nextTick(resolve));
    return Promise.resolve();
  }
}

/** Connects by such streams. */
export function byHostileDuplex(random: SeededRandom): HttpConnectFunction {
  return ({ hostname, port }) => {
    const socket = connect({ host: hostname, port, noDelay: true });
    return new Promise((resolve, reject) => {
      socket.on("connect", () => resolve(new HostileDuplex(socket, random))).on("error", reject);
    });
  };
}
