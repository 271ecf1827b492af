import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { freePort } from "../../support/ports.ts";

export interface ListenerOptions {
  /** Speaks TLS with this certificate. Default: clear text. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** The protocols ALPN offers. */
  readonly alpn?: readonly string[];
  /** The address to listen on; default: 127.0.0.1. */
  readonly address?: string;
}

/** A server of sockets that counts them, and can be stopped hard and started again on its port. */
export class Listener {
  /** The open sockets. */
  readonly sockets: Set<Socket> = new Set();
  /** The number of accepted sockets. */
  accepted = 0;
  port = 0;
  /** The open connections, including those whose handshake is incomplete. */
  readonly #raw: Set<Socket> = new Set();
  readonly #options: ListenerOptions;
  readonly #onSocket: (socket: Socket) => void;
  #server: Server | undefined;

  /** @param onSocket Is given each socket, with TLS once the handshake is through. */
  constructor(options: ListenerOptions, onSocket: (socket: Socket) => void) {
    this.#options = options;
    this.#onSocket = onSocket;
  }

  /** Whether the listener takes connections. */
  get listening(): boolean {
    return this.#server !== undefined;
  }

  get origin(): string {
    return `${this.#options.certificate ? "https" : "http"}://127.0.0.1:${this.port}`;
  }

  /** Listens on the port it had before, the first time on one that no client is given, who would keep it for a minute after its end. */
  async start(): Promise<this> {
    if (this.port === 0) this.port = await freePort();
    const { certificate, alpn } = this.#options;
    const server = certificate
      ? createTlsServer({ ...certificate, ALPNProtocols: alpn && [...alpn] }, (socket) => this.#accept(socket))
      : createServer({ noDelay: true }, (socket) => this.#accept(socket));
    // A handshake that the client gives up is no failure of the test.
    if (certificate) server.on("tlsClientError", () => {});
    server.on("connection", (socket: Socket) => {
      this.#raw.add(socket);
      socket.on("close", () => this.#raw.delete(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, this.#options.address ?? "127.0.0.1", () => resolve());
    });
    this.port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Listens no more; sockets stay. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Destroys every socket and stops listening, as when the process is killed. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.cut();
    await closed;
  }

  /** Destroys every socket. */
  cut(): void {
    for (const socket of [...this.sockets, ...this.#raw]) socket.destroy();
  }

  #accept(socket: Socket | TLSSocket): void {
    this.accepted++;
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {}); // the client may leave as it likes
    socket.on("close", () => this.sockets.delete(socket));
    this.#onSocket(socket);
  }
}
