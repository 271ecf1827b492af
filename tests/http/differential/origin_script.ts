import type { Buffer } from "node:buffer";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Bytes that a server sends together, and how many ms it waits before them; 0 is a turn of the event loop. */
export interface Piece {
  readonly pause: number;
  readonly bytes: Uint8Array;
}

/** The response to a request: its bytes, and the end of the connection after them. */
export interface Play {
  readonly pieces: readonly Piece[];
  readonly ending: "keep" | "fin" | "reset";
}

/**
 * The time that a kept connection stays without a request, in ms: a client that waits for more bytes learns that there
 * are none.
 */
const PATIENCE = 400;

/** A TCP server that answers the request for `/N` with the play of that number, on whatever connection it comes. */
export class ScriptedOrigin {
  /** The number of requests for each play. */
  readonly asked: number[] = [];
  readonly #plays: readonly Play[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(plays: readonly Play[]) {
    this.#plays = plays;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", 512, () => resolve());
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let text = "";
    let patience: ReturnType<typeof setTimeout> | undefined;
    socket.on("error", () => {}); // clients may leave as they like
    socket.on("close", () => {
      clearTimeout(patience);
      this.#sockets.delete(socket);
    });
    socket.on("data", async (data: Buffer) => {
      text += data.toString("latin1");
      const head = /^\w+ \/(\d+) (?:[^](?!\r\n\r\n))*[^]\r\n\r\n/.exec(text);
      if (head === null) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head[0])?.[1] ?? 0);
      if (text.length < head[0].length + length) return;
      text = text.slice(head[0].length + length);
      clearTimeout(patience);
      await this.#play(socket, Number(head[1]));
      patience = setTimeout(() => socket.destroy(), PATIENCE);
    });
  }

  async #play(socket: Socket, index: number): Promise<void> {
    this.asked[index] = (this.asked[index] ?? 0) + 1;
    const { pieces, ending } = this.#plays[index];
    for (const [i, { pause, bytes }] of pieces.entries()) {
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      else if (i > 0) await new Promise((resolve) => setImmediate(resolve));
      if (socket.destroyed) return;
      socket.write(bytes);
    }
    if (ending === "fin") socket.end();
    if (ending !== "reset") return;
    // The written bytes must have left the process, or the client gets no answer at all.
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (!socket.destroyed) socket.resetAndDestroy();
  }
}
