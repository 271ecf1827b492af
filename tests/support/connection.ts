import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

const KEPT = 100_000;

/** A client's connection: the received text, and whether the server has ended it. */
export class Connection {
  /** The received text, of which only the end is kept. */
  received = "";
  /** The number of received bytes. */
  size = 0;
  isClosed = false;
  readonly socket: Socket;
  readonly #changes = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      this.size += text.length;
      this.received = (this.received + text).slice(-KEPT);
      this.#tell();
    });
    socket.on("error", () => {}); // a reset ends it too
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.isClosed = true;
        this.#tell();
      });
    }
  }

  /** Opens one to a port of 127.0.0.1 and sends `text`. */
  static open(port: number, text: string, how: { readonly secure: boolean } = { secure: false }): Promise<Connection> {
    const socket = how.secure
      ? connectSecurely({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect(port, "127.0.0.1");
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once(how.secure ? "secureConnect" : "connect", () => {
        socket.off("error", reject);
        const connection = new Connection(socket);
        if (text !== "") socket.write(text);
        resolve(connection);
      });
    });
  }

  /** Waits until `holds`; gives up with the connection's state after a minute. */
  async until(holds: (connection: Connection) => boolean): Promise<this> {
    const deadline = Date.now() + 60_000;
    while (!holds(this)) {
      if (Date.now() > deadline) {
        throw new Error(`nothing more came: closed ${this.isClosed}, received ${JSON.stringify(this.received)}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, 100);
        const changes = this.#changes;
        changes.add(done);
        function done(): void {
          clearTimeout(timer);
          changes.delete(done);
          resolve();
        }
      });
    }
    return this;
  }

  #tell(): void {
    for (const change of [...this.#changes]) change();
  }
}
