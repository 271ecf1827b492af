import { connect, type Socket } from "node:net";

/** The time in ms after which requests that are to be measured have failed. */
const LONGEST = 30_000;

/** Connections to one server that are kept open, each with one request at a time. */
export class Load {
  readonly #port: number;
  #connections: Connection[];

  private constructor(port: number, connections: Connection[]) {
    this.#port = port;
    this.#connections = connections;
  }

  static async open(port: number, connections: number): Promise<Load> {
    return new Load(port, await Promise.all(Array.from({ length: connections }, () => Connection.open(port))));
  }

  /** Reopens the connections that the server has closed, as it does with idle ones. */
  async ready(): Promise<void> {
    this.#connections = await Promise.all(
      this.#connections.map((connection) => connection.isClosed ? Connection.open(this.#port) : connection),
    );
  }

  /** Requests a path `requests` times, and returns the duration of each request in ms. */
  async play(path: string, accepted: string, requests: number): Promise<Float64Array> {
    const head = Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\nAccept-Encoding: ${accepted}\r\n\r\n`,
    );
    const took = new Float64Array(requests);
    let next = 0;
    const deadline = setTimeout(() => this.close(new Error(`${path} in ${accepted} came to no end`)), LONGEST);
    await Promise.all(this.#connections.map(async (connection) => {
      while (next < requests) {
        const index = next++;
        const start = performance.now();
        await connection.get(head);
        took[index] = performance.now() - start;
      }
    }));
    clearTimeout(deadline);
    return took;
  }

  close(error?: Error): void {
    for (const connection of this.#connections) connection.close(error);
  }
}

/** A connection that looks at no more of a response than where it ends: a client that takes little of the machine. */
class Connection {
  readonly #socket: Socket;
  #received: Uint8Array[] = [];
  #settle: { resolve(): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Uint8Array) => this.#receive(bytes));
    socket.on("close", () => this.#settle?.reject(new Error("a server has closed a connection")));
    socket.on("error", () => {}); // close follows
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("connect", () => resolve(new Connection(socket))).once("error", reject);
    });
  }

  get isClosed(): boolean {
    return !this.#socket.readable || !this.#socket.writable;
  }

  get(head: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(head);
    });
  }

  #receive(bytes: Uint8Array): void {
    this.#received.push(bytes);
    if (!isWhole(Buffer.concat(this.#received))) return;
    this.#received = [];
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.resolve();
  }

  close(error = new Error("the connection is closed")): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
    this.#socket.destroy();
  }
}

/** Whether a response is there to its last byte. */
function isWhole(bytes: Buffer): boolean {
  const start = bytes.indexOf("\r\n\r\n") + 4;
  if (start < 4) return false;
  const head = bytes.toString("latin1", 0, start);
  if (!head.startsWith("HTTP/1.1 200")) throw new Error(`a server answers ${head}`);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) return bytes.length >= start + Number(length[1]);
  for (let at = start;;) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return false;
    const size = parseInt(bytes.toString("latin1", at, line), 16);
    at = line + 2 + size + 2;
    if (bytes.length < at) return false;
    if (size === 0) return true;
  }
}
