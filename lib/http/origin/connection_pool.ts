import { type Deadline, Hold } from "../../timers/mod.ts";
import type { CallContext } from "../calls.ts";
import type { Connection, ConnectionOwner, Transport } from "../connection.ts";
import type { HttpError } from "../http_error.ts";
import type { HttpOriginStats } from "../http_events.ts";

export interface WaitingRequest {
  /** The context for user functions that a connection for this request calls. */
  readonly context: CallContext | undefined;
  /** The neighbours in the list; only {@link RequestQueue} sets them. */
  previousWaiting: WaitingRequest | undefined;
  nextWaiting: WaitingRequest | undefined;
  waitingAt: WaitingRoom | undefined;
  /** Whether the request may share an HTTP/1.1 connection: it may be sent again, is a GET, HEAD or OPTIONS, and has no body. */
  readonly pipelinable: boolean;
  /** The number of the last connection that the request must not use; 0 if it takes any. */
  newerThan: number;
  /** A connection has room: starts the request at once. */
  startOn(pooled: PooledConnection): void;
  /** There is no connection for the request, and there will be none. */
  fail(error: unknown): void;
}

export interface WaitingRoom {
  withdraw(request: WaitingRequest): void;
}

/** Requests in their order, which keep the process alive. Any of them can leave at once, such as when it is aborted. */
export class RequestQueue {
  length = 0;
  first: WaitingRequest | undefined = undefined;
  #last: WaitingRequest | undefined = undefined;
  readonly #room: WaitingRoom;
  readonly #hold: Hold = new Hold();

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  push(request: WaitingRequest): void {
    request.waitingAt = this.#room;
    request.previousWaiting = this.#last;
    if (this.#last === undefined) this.first = request;
    else this.#last.nextWaiting = request;
    this.#last = request;
    if (this.length++ === 0) this.#hold.set(true);
  }

  unshift(request: WaitingRequest): void {
    request.waitingAt = this.#room;
    request.nextWaiting = this.first;
    if (this.first === undefined) this.#last = request;
    else this.first.previousWaiting = request;
    this.first = request;
    if (this.length++ === 0) this.#hold.set(true);
  }

  remove(request: WaitingRequest): void {
    const { previousWaiting, nextWaiting } = request;
    if (previousWaiting === undefined) this.first = nextWaiting;
    else previousWaiting.nextWaiting = nextWaiting;
    if (nextWaiting === undefined) this.#last = previousWaiting;
    else nextWaiting.previousWaiting = previousWaiting;
    request.previousWaiting = undefined;
    request.nextWaiting = undefined;
    request.waitingAt = undefined;
    if (--this.length === 0) this.#hold.set(false);
  }
}

export interface ConnectionPool {
  /** Handles HTTP_1_1_REQUIRED: the server requires HTTP/1.1. */
  requireHttp1(): void;
  /** A connection has answered its first request; or has ended before. */
  onProved(isGood: boolean): void;
  onReady(pooled: PooledConnection): void;
  onClosing(pooled: PooledConnection): void;
  onClosed(pooled: PooledConnection, error: HttpError | undefined): void;
}

export class PooledConnection implements ConnectionOwner {
  static opened = 0;
  /** The connection's number, higher than those of all earlier ones. */
  readonly number: number = ++PooledConnection.opened;
  readonly pool: ConnectionPool;
  readonly transport: Transport;
  /** The connection; set as soon as it exists, before its first event. */
  connection!: Connection;
  /** The deadline after which the connection takes no more requests. */
  age: Deadline | undefined = undefined;
  ready = false;
  #awaited = 0;
  /** Whether the connection has carried a response before, so that its server may have closed it meanwhile. */
  kept = false;

  constructor(pool: ConnectionPool, transport: Transport) {
    this.pool = pool;
    this.transport = transport;
  }

  takes({ pipelinable, newerThan }: Pick<WaitingRequest, "pipelinable" | "newerThan">): boolean {
    const { connection } = this;
    return connection.free > 0 && this.number > newerThan &&
      (pipelinable || connection.active === 0 || connection.protocol === "h2");
  }

  /** Keeps the process alive only while a request waits for its response, or for more of it. */
  keepProcess(): void {
    if (this.#awaited++ === 0) this.transport.keepProcess(true);
  }

  release(): void {
    if (--this.#awaited === 0) this.transport.keepProcess(false);
  }

  onFree(): void {
    this.pool.onReady(this);
  }

  onClosing(): void {
    this.pool.onClosing(this);
  }

  onClosed(_: Connection, error: HttpError | undefined): void {
    this.age?.stop();
    this.pool.onClosed(this, error);
  }
}

/** The maximum number of resting connections beside which none is opened for a request that may be repeated: one is soon free. */
const MAX_RESTING = 8;

export class ConnectionSet {
  readonly #all = new Set<PooledConnection>();
  /** The connections with room, most recently used last. The last one is used next, so that unneeded ones age and are closed. */
  readonly #ready: PooledConnection[] = [];
  /** The number of connections that take requests, without closing ones. */
  open = 0;
  /**
   * The time at which the first connection has rested long enough, if the last {@link find} found only resting ones;
   * otherwise 0.
   */
  restsUntil = 0;

  get size(): number {
    return this.#all.size;
  }

  add(pooled: PooledConnection): void {
    this.#all.add(pooled);
    this.open++;
  }

  onReady(pooled: PooledConnection): void {
    if (pooled.ready || pooled.connection.free === 0) return;
    pooled.ready = true;
    this.#ready.push(pooled);
  }

  onClosing(pooled: PooledConnection): void {
    this.open--;
    if (!pooled.ready) return;
    pooled.ready = false;
    this.#ready.splice(this.#ready.indexOf(pooled), 1);
  }

  delete(pooled: PooledConnection): void {
    this.#all.delete(pooled);
  }

  /**
   * Returns a connection with room for a request, or undefined. A resting one is returned only for a request that may be repeated, if no other may be opened or many
   * rest.
   */
  find(request: WaitingRequest, mayOpen: boolean = true): PooledConnection | undefined {
    const ready = this.#ready;
    let resting: PooledConnection | undefined;
    let count = 0;
    let now = 0;
    this.restsUntil = 0;
    for (let i = ready.length - 1; i >= 0; i--) {
      const pooled = ready[i];
      const { connection } = pooled;
      if (connection.free === 0) {
        // A full connection returns through onReady.
        pooled.ready = false;
        ready.splice(i, 1);
        continue;
      }
      if (!pooled.takes(request)) continue;
      const { restsUntil = 0 } = connection;
      if (restsUntil === 0 || restsUntil <= (now ||= performance.now())) return pooled;
      if (resting === undefined || restsUntil < resting.connection.restsUntil!) resting = pooled;
      count++;
    }
    if (!mayOpen || (request.pipelinable && count >= MAX_RESTING)) return resting;
    this.restsUntil = resting?.connection.restsUntil ?? 0;
    return undefined;
  }

  /** Whether a session does not know yet how many streams the server allows. */
  get awaitsSettings(): boolean {
    return [...this.#all].some(({ connection: { closing, protocol, peerMaxConcurrentStreams } }) =>
      !closing && protocol === "h2" && peerMaxConcurrentStreams === undefined
    );
  }

  closeSessions(): void {
    for (const { connection } of this.#all) {
      if (connection.protocol === "h2") connection.close();
    }
  }

  close(): void {
    for (const { connection } of this.#all) connection.close();
  }

  destroy(error: HttpError): void {
    for (const { connection } of [...this.#all]) connection.destroy(error);
  }

  counts(): Pick<HttpOriginStats, "connections" | "sessions" | "active"> {
    const counts = { connections: this.#all.size, sessions: 0, active: 0 };
    for (const { connection } of this.#all) {
      counts.active += connection.active;
      if (connection.protocol === "h2") counts.sessions++;
    }
    return counts;
  }
}
