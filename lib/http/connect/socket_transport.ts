import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clearImmediate, setImmediate } from "node:timers";
import { afterPoll, makeYoungObjects, pauseTlsReads } from "../../runtime/mod.ts";
import { Hold, Timer } from "../../timers/mod.ts";
import { inMicrotask } from "../calls.ts";
import { copyOf } from "../response/byte_queue.ts";
import type { Transport, TransportEvents } from "../connection.ts";
import type { TlsAttempt } from "./tls_handshake.ts";

/** The size of a TLS record: after a chunk of that size, the sender usually has more to send. */
const LARGE = 16 * 1024;

/** Joins chunks that are adjacent in memory, as Node's TLS records are: one of four is handled in a fourth of the time, and can be transferred. */
export class ReadCoalescer {
  readonly #give: (chunk: Uint8Array) => void;
  #buffer: ArrayBufferLike | undefined = undefined;
  #start = 0;
  #end = 0;
  #immediate: ReturnType<typeof setImmediate> | undefined = undefined;
  readonly #onTurnEnd = (): void => {
    this.#immediate = undefined;
    this.flush();
  };

  constructor(give: (chunk: Uint8Array) => void) {
    this.#give = give;
  }

  /** Takes a chunk, and passes it on with those kept before it, unless more chunks are likely in this turn. */
  take(chunk: Uint8Array): void {
    const { buffer, byteOffset, byteLength } = chunk;
    const isNext = buffer === this.#buffer && byteOffset === this.#end;
    if (!isNext) this.flush();
    const end = byteOffset + byteLength;
    if (!isNext && (byteLength < LARGE || end === buffer.byteLength)) return this.#give(chunk);
    if (!isNext) this.#start = byteOffset;
    this.#buffer = buffer;
    this.#end = end;
    if (byteLength < LARGE || end === buffer.byteLength) return this.flush();
    this.#immediate ??= setImmediate(this.#onTurnEnd);
  }

  flush(): void {
    const buffer = this.#buffer;
    if (buffer === undefined) return;
    this.#buffer = undefined;
    this.#give(new Uint8Array(buffer, this.#start, this.#end - this.#start));
  }

  drop(): void {
    this.#buffer = undefined;
    if (this.#immediate !== undefined) clearImmediate(this.#immediate);
  }
}

interface SocketLayers {
  /** The stream below all others, if TLS runs over an existing one; otherwise the stream itself. */
  readonly bottom: Duplex;
  readonly tls?: TlsAttempt;
  /** Whether the bottom is the user's stream, which may buffer bytes; without TLS it may also keep their memory, and that of its chunks. */
  readonly isForeign?: boolean;
}

/** A stream; if it is a socket, it keeps the process alive. */
type Layer = Duplex & Partial<Pick<Socket, "ref" | "unref">>;

/** A transport over a connected socket of `node:net` or `node:tls`, or over another stream. */
export class SocketTransport implements Transport {
  readonly alpnProtocol: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly #socket: Layer;
  readonly #bottom: Layer;
  readonly #tls: TlsAttempt | undefined;
  #events: TransportEvents | undefined;
  #error: Error | undefined;
  #destroyed = false;
  #leaves = false;
  /** Whether bytes were written that the socket can no longer send. */
  #hasDropped = false;
  #closed = false;
  #held = true;
  /** Keeps the process alive for a user's stream that cannot. */
  readonly #hold: Hold | undefined;
  readonly #isForeign: boolean;
  readonly #copies: boolean;
  #gathers = false;
  readonly #gathered = new ReadCoalescer((chunk) => this.#give(chunk));

  /** @param socket A connected socket without listeners, which buffers incoming bytes until {@link attach}. */
  constructor(socket: Duplex, { bottom, tls, isForeign = false }: SocketLayers) {
    this.#socket = socket;
    this.#bottom = bottom;
    this.#tls = tls;
    this.#isForeign = isForeign;
    this.#copies = isForeign && tls === undefined;
    this.alpnProtocol = tls?.socket.alpnProtocol || undefined;
    const { remoteAddress, remotePort } = bottom as Partial<Socket>;
    this.remoteAddress = remoteAddress ?? (socket as Partial<Socket>).remoteAddress;
    this.remotePort = remotePort ?? (socket as Partial<Socket>).remotePort;
    this.#closed = socket.closed;
    this.#hold = this.#bottom.unref === undefined ? new Hold() : undefined;
    this.#hold?.set(true);
    this.#error = socket.errored ?? undefined;
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("close", () => {
      this.#gathered.flush();
      this.#closed = true;
      this.#hold?.set(false);
      if (!this.#leaves) bottom.destroy();
      this.#events?.onClose(this.#error);
    });
  }

  get full(): boolean {
    return this.#socket.writableNeedDrain;
  }

  get waiting(): number {
    return this.#hasDropped || this.#socket.destroyed ? Infinity : this.#socket.writableLength;
  }

  get empty(): boolean {
    return this.#copies || this.waiting === 0; // the user's stream has copies of the bytes
  }

  attach(events: TransportEvents): void {
    this.#events = events;
    const socket = this.#socket;
    if (this.#closed) return inMicrotask(() => events.onClose(this.#error));
    socket.on("drain", this.#onDrain);
    socket.on("end", () => {
      this.#gathered.flush();
      // TLS reports an alert and then the end: onClose has the alert. Bun reports an end after destroy().
      if (this.#error === undefined && !this.#destroyed) events.onEnd();
    });
    socket.on("data", (chunk: Uint8Array) => { // starts the flow in a later turn
      if (this.#destroyed) return;
      if (!this.#gathers) return this.#give(chunk);
      this.#gathered.take(chunk);
      if (!this.#gathers) this.#gathered.flush(); // a response has ended: bytes behind it must be reported at once
    });
  }

  gather(gathers: boolean): void {
    this.#gathers = gathers;
  }

  write(bytes: Uint8Array, tells: boolean = false): void {
    if (!this.#socket.writable) return void (this.#hasDropped = true);
    try {
      this.#socket.write(this.#copies ? copyOf(bytes) : bytes, tells ? this.#onDrain : undefined);
    } catch (error) { // the user's stream may throw
      this.#socket.destroy(error as Error);
    }
  }

  pause(): void {
    this.#socket.pause();
    if (this.#tls) pauseTlsReads(this.#tls.socket, true);
  }

  resume(): void {
    if (this.#tls) pauseTlsReads(this.#tls.socket, false);
    this.#socket.resume();
  }

  end(): void {
    if (this.#socket.writable) this.#socket.end();
  }

  leave(ms: number): void {
    if (this.waiting > 0 || !this.#isForeign) return this.destroy();
    this.#destroyed = this.#leaves = true;
    const timer = new Timer(() => this.destroy());
    if (ms > 0) timer.start(ms);
    this.#bottom.once("close", () => timer.stop());
    // Ends the same stream if there is one layer. Deno writes the end of TLS in a later turn.
    this.#socket.end(() => afterPoll(() => this.#bottom.end(() => this.destroy())));
  }

  destroy(): void {
    this.#destroyed = true;
    this.#hold?.set(false);
    this.#gathered.drop();
    this.#socket.destroy();
    this.#bottom.destroy();
  }

  keepProcess(alive: boolean): void {
    if (alive === this.#held) return;
    this.#held = alive;
    const change = alive ? "ref" : "unref";
    this.#socket[change]?.();
    if (this.#bottom !== this.#socket) this.#bottom[change]?.(); // TLS over a stream does not pass it on everywhere
    this.#hold?.set(alive && !this.#destroyed && !this.#closed);
  }

  readonly #onDrain = (error?: Error | null): void => {
    if (!error && !this.#destroyed) this.#events!.onDrain();
  };

  #give(chunk: Uint8Array): void {
    if (this.#destroyed) return;
    makeYoungObjects(chunk.length);
    if (this.#copies) this.#events!.onData(copyOf(chunk), true);
    else this.#events!.onData(chunk, chunk.byteLength === chunk.buffer.byteLength);
  }
}
