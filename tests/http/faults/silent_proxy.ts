import { connect, type Socket } from "node:net";
import { Listener } from "./listener.ts";

/** Passes bytes on to a port, until one of its methods disturbs them. */
export class SilentProxy {
  readonly listener: Listener;
  /** May keep a new socket for itself, by returning true. */
  onSocket: (socket: Socket) => boolean = () => false;
  readonly #pairs: Set<{ isSilent: boolean; readonly target: Socket }> = new Set();

  /** @param port Of the server behind it. */
  constructor(port: () => number) {
    this.listener = new Listener({}, (socket) => this.#join(socket, port()));
  }

  /** Drops all further bytes on the open connections, both ways and without any notice, like a cut cable. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  async stop(): Promise<void> {
    for (const { target } of this.#pairs) target.destroy();
    await this.listener.stop();
  }

  #join(socket: Socket, port: number): void {
    if (this.onSocket(socket)) return;
    const target = connect({ port, host: "127.0.0.1", noDelay: true });
    const pair = { isSilent: false, target };
    this.#pairs.add(pair);
    target.on("error", () => {});
    target.on("close", () => {
      this.#pairs.delete(pair);
      if (!pair.isSilent) socket.destroy();
    });
    socket.on("close", () => {
      if (!pair.isSilent) target.destroy();
    });
    socket.on("data", (chunk: Uint8Array) => {
      if (!pair.isSilent) target.write(chunk);
    });
    target.on("data", (chunk: Uint8Array) => {
      if (!pair.isSilent) socket.write(chunk);
    });
  }
}
