import type { Connection, ConnectionOwner } from "../exchange.ts";
import type { HttpError } from "../http_error.ts";
import type { Transport } from "../transport.ts";

/** How long, in ms, a server has to close its side after we closed ours. */
const LINGER = 1000;

/** How far a session has come with its end, and what its owner knows of that. */
export class SessionEnd {
  /** Whether it takes no more requests. */
  isNear = false;
  /** Whether it is over but for the socket: what comes is not read. */
  isHere = false;
  /** Why it ended; undefined if that is nobody's fault. */
  error: HttpError | undefined = undefined;
  readonly #connection: Connection;
  readonly #owner: ConnectionOwner;
  readonly #transport: Transport;
  #isTold = false;
  #lingering: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Watches over the end of a connection. */
  constructor(connection: Connection, owner: ConnectionOwner, transport: Transport) {
    this.#connection = connection;
    this.#owner = owner;
    this.#transport = transport;
  }

  /** Tells the owner that no more requests are taken, if that is so and it does not know. */
  tellNear(): void {
    if (!this.isNear || this.#isTold) return;
    this.#isTold = true;
    this.#owner.onClosing(this.#connection);
  }

  /** Closes our side, and waits a little for the server to do so: its socket should not see a reset instead of our last frames. */
  linger(): void {
    this.#transport.end();
    this.#transport.hold(true);
    this.#lingering = setTimeout(() => this.#transport.destroy(), LINGER);
  }

  /** The socket is gone. */
  tellClosed(): void {
    clearTimeout(this.#lingering);
    this.tellNear();
    this.#owner.onClosed(this.#connection, this.error);
  }
}
