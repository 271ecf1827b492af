import type { Socket } from "node:net";
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from "node:tls";
import type { Transport, TransportEvents } from "../transport.ts";

/** A transport over a connected socket of `node:net` or `node:tls`. */
export class SocketTransport implements Transport {
  readonly alpnProtocol: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly #socket: Socket;
  readonly #verified: TLSSocket | undefined;
  #certificate: PeerCertificate | undefined;
  #events: TransportEvents | undefined;
  #error: Error | undefined;
  #closed = false;

  /**
   * Takes a socket over. Nobody has listened to its data yet, so that it holds back what comes until {@link attach}.
   *
   * @param socket A connected socket.
   * @param secure The same, if TLS is spoken.
   * @param verified Whether the server's certificate was verified.
   */
  constructor(socket: Socket, secure: TLSSocket | undefined, verified: boolean) {
    this.#socket = socket;
    this.#verified = verified ? secure : undefined;
    this.alpnProtocol = secure?.alpnProtocol || undefined;
    this.remoteAddress = socket.remoteAddress;
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("close", () => {
      this.#closed = true;
      this.#events?.onClose(this.#error);
    });
  }

  get full(): boolean {
    return this.#socket.writableNeedDrain;
  }

  attach(events: TransportEvents): void {
    this.#events = events;
    const socket = this.#socket;
    if (this.#closed) {
      queueMicrotask(() => events.onClose(this.#error));
      return;
    }
    socket.on("drain", () => events.onDrain());
    socket.on("end", () => {
      if (this.#error === undefined) events.onEnd(); // TLS tells of an alert and then of the end: onClose has the alert
    });
    socket.on("data", (chunk: Uint8Array) => events.onData(chunk)); // starts the flow, in a later turn
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    if (this.#socket.writable) this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  hold(alive: boolean): void {
    if (alive) this.#socket.ref();
    else this.#socket.unref();
  }

  covers(host: string): boolean {
    if (this.#verified === undefined || this.#closed) return false;
    // Asked for late: nobody else needs it, and it takes as long as a request.
    this.#certificate ??= this.#verified.getPeerCertificate() ?? undefined; // null once the socket is destroyed
    return this.#certificate !== undefined && checkServerIdentity(host, this.#certificate) === undefined;
  }
}
