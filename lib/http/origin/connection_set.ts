import type { HttpCounts } from "../http_client_stats.ts";
import type { HttpError } from "../http_error.ts";
import type { PooledConnection } from "./pooled_connection.ts";
import type { WaitingRequest } from "./waiting_list.ts";

/** An origin's connections, and which of them have room. */
export class ConnectionSet {
  readonly #all = new Set<PooledConnection>();
  /** The connections with room, the most recently used last: it is used next, so that unneeded ones grow old and are closed. */
  readonly #ready: PooledConnection[] = [];
  /** How many take requests: all but those that are closing. */
  open = 0;

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Adds one that has just been opened. */
  add(pooled: PooledConnection): void {
    this.#all.add(pooled);
    this.open++;
  }

  /** Notes that a connection has room again. */
  onReady(pooled: PooledConnection): void {
    if (pooled.ready || pooled.connection.free === 0) return;
    pooled.ready = true;
    this.#ready.push(pooled);
  }

  /** Notes that a connection takes no more requests. */
  onClosing(pooled: PooledConnection): void {
    this.open--;
    if (!pooled.ready) return;
    pooled.ready = false;
    this.#ready.splice(this.#ready.indexOf(pooled), 1);
  }

  /** Removes a connection that is gone. */
  delete(pooled: PooledConnection): void {
    this.#all.delete(pooled);
  }

  /** Returns a connection with room for a request; undefined if there is none. */
  find(request: WaitingRequest): PooledConnection | undefined {
    const ready = this.#ready;
    for (let i = ready.length - 1; i >= 0; i--) {
      const pooled = ready[i];
      const { connection } = pooled;
      if (connection.free === 0) {
        // What is full comes back by onReady.
        pooled.ready = false;
        ready.splice(i, 1);
        continue;
      }
      if (pooled.takes(request)) return pooled;
    }
    return undefined;
  }

  /** Whether a session does not know yet how many streams it may have. */
  get awaitsSettings(): boolean {
    for (const { connection } of this.#all) {
      if (connection.closing || connection.protocol !== "h2") continue;
      if (connection.peerMaxConcurrentStreams === undefined) return true;
    }
    return false;
  }

  /** Open sessions whose certificate covers a host, unless it is known that they do not lead there. */
  *sessionsCovering(host: string): Generator<PooledConnection> {
    for (const pooled of this.#all) {
      const { connection } = pooled;
      if (connection.protocol === "h2" && !connection.closing && pooled.mayCarry(host)) yield pooled;
    }
  }

  /** Whether an open session carries the requests of another host. */
  carries(host: string): boolean {
    for (const pooled of this.#all) {
      if (!pooled.connection.closing && pooled.carries(host)) return true;
    }
    return false;
  }

  /** Closes the sessions of HTTP/2 once their requests have ended. */
  closeSessions(): void {
    for (const { connection } of this.#all) {
      if (connection.protocol === "h2") connection.close();
    }
  }

  /** Closes each once its requests have ended. */
  close(): void {
    for (const { connection } of this.#all) connection.close();
  }

  /** Ends each; its requests fail with the error. */
  destroy(error: HttpError): void {
    for (const { connection } of [...this.#all]) connection.destroy(error);
  }

  /** Counts the connections, the HTTP/2 sessions and the active requests. */
  counts(): Pick<HttpCounts, "connections" | "sessions" | "active"> {
    const counts = { connections: this.#all.size, sessions: 0, active: 0 };
    for (const { connection } of this.#all) {
      counts.active += connection.active;
      if (connection.protocol === "h2") counts.sessions++;
    }
    return counts;
  }
}
