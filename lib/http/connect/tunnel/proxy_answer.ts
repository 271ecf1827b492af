import type { Duplex } from "node:stream";
import { HttpError } from "../../http_error.ts";
import { toConnectionError } from "../connection_error.ts";
import type { Peer } from "../peer.ts";

/** A proxy's response before the connection leads on, read piece by piece. */
export class ProxyAnswer {
  readonly #socket: Duplex;
  readonly #peer: Peer;
  /** The bytes read from the socket and not taken yet. */
  #rest: Uint8Array = new Uint8Array(0);

  /**
   * Begins to read a socket, of which nobody else does.
   *
   * @param peer The proxy.
   */
  constructor(socket: Duplex, peer: Peer) {
    this.#socket = socket;
    this.#peer = peer;
  }

  /**
   * Takes so many bytes.
   *
   * @throws {HttpError} if the connection ends before.
   */
  async bytes(length: number): Promise<Uint8Array> {
    while (this.#rest.length < length) {
      const more = await this.#receive();
      const joined = new Uint8Array(this.#rest.length + more.length);
      joined.set(this.#rest);
      joined.set(more, this.#rest.length);
      this.#rest = joined;
    }
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  /**
   * Takes what is there, at least a byte.
   *
   * @throws {HttpError} if the connection ends instead.
   */
  async more(): Promise<Uint8Array> {
    if (this.#rest.length === 0) return await this.#receive();
    const taken = this.#rest;
    this.#rest = new Uint8Array(0);
    return taken;
  }

  /** Gives bytes back that {@link more} gave. */
  putBack(bytes: Uint8Array): void {
    this.#rest = bytes;
  }

  /**
   * Ends the reading: the connection leads to the target now.
   *
   * @param serverSpeaksFirst Whether the server behind may have sent bytes already, which then are left to be read.
   * @throws {HttpError} if there are bytes that nobody can have sent but the proxy.
   */
  end(serverSpeaksFirst: boolean): void {
    const more: Uint8Array | null = this.#socket.read();
    if (this.#rest.length === 0 && more === null) return;
    if (!serverSpeaksFirst) {
      const { origin, place } = this.#peer;
      const message = `Cannot connect by ${place}: it sent bytes after its answer, before anything was asked`;
      throw new HttpError("PROTOCOL_ERROR", message, { origin });
    }
    if (more !== null) this.#socket.unshift(more);
    if (this.#rest.length > 0) this.#socket.unshift(this.#rest);
  }

  #receive(): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const socket = this.#socket;
      const done = (settle: () => void): void => {
        socket.off("readable", onReadable).off("end", onEnd).off("error", onError).off("close", onEnd);
        settle();
      };
      const onReadable = (): void => {
        const chunk: Uint8Array | null = socket.read();
        if (chunk !== null) done(() => resolve(chunk));
      };
      const onError = (error: Error): void => done(() => reject(toConnectionError(error, this.#peer)));
      const onEnd = (): void => {
        if (socket.errored) return onError(socket.errored);
        const { origin, place } = this.#peer;
        const message = `Cannot connect by ${place}: it closed the connection instead of an answer, or within it`;
        done(() => reject(new HttpError("CONNECTION_LOST", message, { origin })));
      };
      if (socket.destroyed || socket.readableEnded) return onEnd();
      socket.on("end", onEnd).on("error", onError).on("close", onEnd).on("readable", onReadable);
      onReadable();
    });
  }
}
