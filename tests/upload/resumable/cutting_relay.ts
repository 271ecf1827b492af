import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A relay before a server that may change its port, which cuts connections on request. */
export class CuttingRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The port of the server behind it. */
  target = 0;
  /** The number of bytes received from clients. */
  received = 0;
  /** Called when bytes from clients arrive. */
  onReceived: (() => void) | undefined = undefined;

  private constructor() {
    this.#server = createServer((socket) => this.#relay(socket));
  }

  static async open(target: number): Promise<CuttingRelay> {
    const relay = new CuttingRelay();
    relay.target = target;
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts all connections, both sides. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #relay(socket: Socket): void {
    const server = connect(this.target, "127.0.0.1");
    for (const side of [socket, server]) {
      this.#sockets.add(side);
      side.on("error", () => {}); // it closes then
      side.on("close", () => {
        this.#sockets.delete(side);
        socket.destroy();
        server.destroy();
      });
    }
    socket.on("data", (bytes: Uint8Array) => {
      this.received += bytes.length;
      this.onReceived?.();
    });
    socket.pipe(server);
    server.pipe(socket);
  }
}
