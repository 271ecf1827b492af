import type { Connection, ConnectionOwner } from "../exchange.ts";
import type { HttpError } from "../http_error.ts";
import type { Transport } from "../transport.ts";

/** The part of an origin that its connections report to. */
export interface ConnectionPool {
  /** Connections in a row that ended without having answered one request. */
  fruitless: number;
  /** The server wants HTTP/1.1 (HTTP_1_1_REQUIRED). */
  requireHttp1(): void;
  onReady(pooled: PooledConnection): void;
  onClosing(pooled: PooledConnection): void;
  onClosed(pooled: PooledConnection, error: HttpError | undefined): void;
}

/** Hosts that a connection remembers something of. */
const MOST_HOSTS = 1000;

/** A connection and its place in the pool of its origin. */
export class PooledConnection implements ConnectionOwner {
  readonly pool: ConnectionPool;
  readonly transport: Transport;
  /** Set as soon as it is there, before it tells anything. */
  connection!: Connection;
  /** Whether it stands among those that have room. */
  ready = false;
  /** Requests that somebody waits for. */
  #awaited = 0;
  #answered = false;
  #failed = false;
  /** Other hosts whose names the certificate has. */
  readonly #covered = new Map<string, boolean>();
  /** Other hosts that were looked up, and whether this connection's address is one of theirs. */
  readonly #verdicts = new Map<string, boolean>();

  constructor(pool: ConnectionPool, transport: Transport) {
    this.pool = pool;
    this.transport = transport;
  }

  /** Whether it is an HTTP/1.1 connection that has answered before. */
  get kept(): boolean {
    return this.#answered && this.connection.protocol === "http/1.1";
  }

  /** Whether a request may be started now. */
  takes({ pipelinable }: { readonly pipelinable: boolean }): boolean {
    const { free, active, protocol } = this.connection;
    return free > 0 && (pipelinable || active === 0 || protocol === "h2");
  }

  /** A request was answered. */
  onAnswer(): void {
    this.#answered = true;
    this.pool.fruitless = 0;
  }

  /** A request was not answered. A server that ends every connection so is not tried without end. */
  onNoAnswer(): void {
    this.#failed = true;
  }

  /**
   * Somebody waits for a request's response, or for more of its body. Only then does the connection keep the process alive: a
   * response that is not read does not.
   */
  hold(): void {
    if (this.#awaited++ === 0) this.transport.hold(true);
  }

  /** Nobody waits for a request any more. */
  release(): void {
    if (--this.#awaited === 0) this.transport.hold(false);
  }

  /** Whether requests for another host may go here: the certificate covers it, and a look-up has led to this address. */
  carries(host: string): boolean {
    return this.#verdicts.get(host) === true && this.#covers(host);
  }

  /** Whether it is worth a look-up to find out if requests for another host may go here, or known that they may. */
  mayCarry(host: string): boolean {
    return this.#verdicts.get(host) !== false && this.#covers(host);
  }

  /** Remembers whether a host's name leads to this connection's address; one that could not be looked up does not. */
  judge(host: string, leadsHere: boolean): void {
    if (this.#verdicts.size >= MOST_HOSTS) this.#verdicts.clear();
    this.#verdicts.set(host, leadsHere);
  }

  #covers(host: string): boolean {
    let covered = this.#covered.get(host);
    if (covered === undefined) {
      if (this.#covered.size >= MOST_HOSTS) this.#covered.clear();
      this.#covered.set(host, covered = this.transport.covers(host));
    }
    return covered;
  }

  onFree(): void {
    this.pool.onReady(this);
  }

  onClosing(): void {
    this.pool.onClosing(this);
  }

  onClosed(_: Connection, error: HttpError | undefined): void {
    if (this.#failed && !this.#answered) this.pool.fruitless++;
    this.pool.onClosed(this, error);
  }
}
