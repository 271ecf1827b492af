import type { HttpError } from "../http_error.ts";
import type { HttpOriginStats } from "../http_client_stats.ts";
import type { HttpClientEvent } from "../http_events.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import { openConnection, type OpenedConnection, type Target } from "./open_connection.ts";
import { type ConnectionPool, PooledConnection } from "./pooled_connection.ts";
import { WaitingList, type WaitingRequest } from "./waiting_list.ts";

/** What an origin has of its client. */
export interface OriginHost {
  readonly options: ResolvedOptions;
  emit(event: HttpClientEvent): void;
  /** A connection, or an attempt at one, is gone. */
  onIdle(origin: Origin): void;
  /** Another origin, one of whose sessions may carry this one's requests; undefined if there is none. */
  findAlias(origin: Origin): Promise<Origin | undefined> | undefined;
}

/** The first pause between attempts at a connection while others are open, in ms; each further one is twice as long. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2000;
/** How long such attempts go on if connections have no timeout, in ms. */
const PATIENCE = 10_000;

/**
 * The connections to one origin, and the requests that wait for them.
 *
 * The first connection to an unknown origin is made alone: while TLS asks for the protocol (ALPN), a burst waits. If the answer is
 * h2, all of it goes on that session, as far as the server's SETTINGS allow; what is left goes on more sessions, up to
 * `connections`. If it is HTTP/1.1, as many connections are opened at once as requests wait. The protocol is remembered.
 */
export class Origin implements ConnectionPool {
  readonly target: Target;
  fruitless = 0;
  readonly #host: OriginHost;
  readonly #waiting = new WaitingList(this);
  readonly #pooled = new Set<PooledConnection>();
  /** Those with room, the most recently used last: it is used next, so that those that are not needed grow old and are closed. */
  readonly #ready: PooledConnection[] = [];
  readonly #attempts = new Set<AbortController>();
  #protocol: "h2" | "http/1.1" | undefined;
  /** Streams that the last session's server allowed; undefined before one said so. */
  #streamsAllowed: number | undefined = undefined;
  /** Carries this origin's requests, by a certificate that is good for both (RFC 9113 section 9.1.1). */
  #alias: Origin | undefined = undefined;
  #aliasRefused = false;
  #searching = false;
  /** Attempts in a row that failed while requests waited, and since when. */
  #missed = 0;
  #missedSince = 0;
  #pause: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(target: Target, host: OriginHost) {
    this.target = target;
    this.#host = host;
    if (!target.secure) this.#protocol = host.options.h2c ? "h2" : "http/1.1";
    else if (!host.options.http2) this.#protocol = "http/1.1";
  }

  /** Whether nothing is under way, and no connection open. */
  get idle(): boolean {
    return this.#pooled.size === 0 && this.#attempts.size === 0 && this.#waiting.length === 0 && !this.#searching;
  }

  /** Finds a connection for a request, now or when there is one. */
  schedule(request: WaitingRequest): void {
    if (this.#alias?.hasSession()) return this.#alias.schedule(request);
    if (this.#waiting.length === 0) {
      const pooled = this.#takeReady(request);
      if (pooled !== undefined) return request.startOn(pooled);
    }
    this.#waiting.push(request);
    this.#grow();
  }

  /** The same for a request that was scheduled before: it need not queue up again. */
  scheduleAgain(request: WaitingRequest): void {
    if (this.#alias?.hasSession()) return this.#alias.scheduleAgain(request);
    this.#waiting.unshift(request);
    this.#startWaiting();
  }

  /** Forgets a request that waits. Attempts at connections that nobody waits for any more are given up. */
  withdraw(request: WaitingRequest): void {
    this.#waiting.remove(request);
    if (this.#waiting.length > 0) return;
    this.#forgetMisses();
    for (const attempt of this.#attempts) attempt.abort();
  }

  /** Whether an h2 session is open that takes requests. */
  hasSession(): boolean {
    return this.#protocol === "h2" && this.#openConnections() > 0;
  }

  /** Whether an open session's certificate and address are those of another host. */
  covers(host: string, addresses?: readonly string[]): boolean {
    for (const pooled of this.#pooled) {
      const { connection, transport } = pooled;
      if (connection.protocol !== "h2" || connection.closing || !pooled.covers(host)) continue;
      if (addresses === undefined || addresses.includes(transport.remoteAddress ?? "")) return true;
    }
    return false;
  }

  /** A server said that it does not answer for this origin on another's session (421). Whether that was the case. */
  refuseAlias(): boolean {
    const was = this.#alias !== undefined;
    this.#alias = undefined;
    this.#aliasRefused = true;
    return was;
  }

  /** Closes every connection once its requests have ended, and gives attempts up. */
  close(): void {
    for (const attempt of this.#attempts) attempt.abort();
    for (const { connection } of this.#pooled) connection.close();
  }

  /** Ends everything; requests fail with the error. */
  destroy(error: HttpError): void {
    this.#failWaiting(error);
    this.close();
    for (const { connection } of [...this.#pooled]) connection.destroy(error);
  }

  /** What it is doing. */
  stats(): HttpOriginStats {
    let active = 0;
    let sessions = 0;
    for (const { connection } of this.#pooled) {
      active += connection.active;
      if (connection.protocol === "h2") sessions++;
    }
    return {
      origin: this.target.origin,
      protocol: this.#protocol,
      connections: this.#pooled.size,
      sessions,
      connecting: this.#attempts.size,
      active,
      queued: this.#waiting.length,
    };
  }

  onReady(pooled: PooledConnection): void {
    this.#noteSettings(pooled);
    if (!pooled.ready && pooled.connection.free > 0) {
      pooled.ready = true;
      this.#ready.push(pooled);
    }
    this.#startWaiting();
  }

  onClosing(pooled: PooledConnection): void {
    this.#leaveReady(pooled);
    if (this.#waiting.length > 0) this.#grow();
  }

  onClosed(pooled: PooledConnection, error: HttpError | undefined): void {
    this.#leaveReady(pooled);
    this.#pooled.delete(pooled);
    const { protocol } = pooled.connection!;
    this.#host.emit({ type: "disconnect", origin: this.target.origin, protocol, error });
    if (this.#waiting.length > 0) this.#grow();
    this.#host.onIdle(this);
  }

  #takeReady(request: WaitingRequest): PooledConnection | undefined {
    const ready = this.#ready;
    for (let i = ready.length - 1; i >= 0; i--) {
      const pooled = ready[i];
      const connection = pooled.connection!;
      if (connection.free === 0) {
        // What is full comes back by onReady.
        pooled.ready = false;
        ready.splice(i, 1);
        continue;
      }
      if (request.pipelinable || connection.active === 0 || connection.protocol === "h2") return pooled;
    }
    return undefined;
  }

  #leaveReady(pooled: PooledConnection): void {
    if (!pooled.ready) return;
    pooled.ready = false;
    this.#ready.splice(this.#ready.indexOf(pooled), 1);
  }

  #startWaiting(): void {
    const waiting = this.#waiting;
    while (waiting.first !== undefined) {
      const request = waiting.first;
      const pooled = this.#takeReady(request);
      if (pooled === undefined) return this.#grow();
      waiting.remove(request);
      if (this.#missed > 0) this.#forgetMisses();
      request.startOn(pooled);
    }
  }

  #noteSettings({ connection }: PooledConnection): void {
    if (connection.protocol === "h2") {
      this.#streamsAllowed = connection.peerMaxConcurrentStreams ?? this.#streamsAllowed;
    }
  }

  /** Opens as many connections as those that wait need, beyond those that are being opened. */
  #grow(): void {
    if (this.#searching || (this.#pause !== undefined && this.#openConnections() > 0)) return;
    // One that is closing has requests to end, which may take long; it is not in the way of its successor.
    const room = this.#host.options.connections - this.#openConnections() - this.#attempts.size;
    const wanted = Math.min(room, this.#connectionsWanted());
    if (wanted <= 0) return;
    if (this.#pooled.size === 0 && this.#attempts.size === 0 && this.#searchAlias()) return;
    for (let i = 0; i < wanted; i++) this.#open();
  }

  #connectionsWanted(): number {
    if (this.#protocol === "http/1.1") {
      return Math.ceil(this.#waiting.length / this.#host.options.pipelining) - this.#attempts.size;
    }
    // Until the answer to the first is there, it is the only one; so it is until a session knows how many streams it may have.
    for (const { connection } of this.#pooled) {
      if (!connection.closing && connection.protocol === "h2" && connection.peerMaxConcurrentStreams === undefined) {
        return 0;
      }
    }
    if (this.#openConnections() === 0) return 1 - this.#attempts.size;
    const perSession = Math.max(1, Math.min(this.#streamsAllowed ?? 1, this.#host.options.maxConcurrentStreams));
    return Math.ceil(this.#waiting.length / perSession) - this.#attempts.size;
  }

  #openConnections(): number {
    let open = 0;
    for (const { connection } of this.#pooled) if (!connection.closing) open++;
    return open;
  }

  #searchAlias(): boolean {
    if (this.#aliasRefused || this.#protocol === "http/1.1") return false;
    const found = this.#host.findAlias(this);
    if (found === undefined) return false;
    this.#searching = true;
    const onFound = (alias: Origin | undefined): void => {
      this.#searching = false;
      if (alias?.hasSession()) this.#moveTo(alias);
      else this.#grow();
    };
    // A `lookup` that throws says so again, to the connection that is tried then.
    found.then(onFound, () => onFound(undefined));
    return true;
  }

  #moveTo(alias: Origin): void {
    this.#alias = alias;
    while (this.#waiting.first !== undefined) {
      const request = this.#waiting.first;
      this.#waiting.remove(request);
      alias.schedule(request);
    }
  }

  #open(): void {
    const attempt = new AbortController();
    this.#attempts.add(attempt);
    const pooled = new PooledConnection(this);
    const began = performance.now();
    const allowedAtFirst = this.#streamsAllowed ?? 1;
    openConnection(this.target, this.#host.options, pooled, { allowedAtFirst, signal: attempt.signal }).then(
      (opened) => {
        this.#attempts.delete(attempt);
        this.#onOpened(pooled, opened, performance.now() - began);
      },
      (error) => {
        this.#attempts.delete(attempt);
        this.#onNotOpened(error, attempt.signal.aborted);
      },
    );
  }

  #onOpened(pooled: PooledConnection, { connection, transport }: OpenedConnection, ms: number): void {
    const { origin } = this.target;
    pooled.connection = connection;
    pooled.transport = transport;
    this.#protocol = connection.protocol;
    this.#pooled.add(pooled);
    this.#host.emit({
      type: "connect",
      origin,
      protocol: connection.protocol,
      remoteAddress: transport.remoteAddress,
      ms,
    });
    this.onReady(pooled);
  }

  #onNotOpened(error: unknown, aborted: boolean): void {
    if (!aborted) this.#host.emit({ type: "connectFailed", origin: this.target.origin, error });
    if (aborted) this.#grow();
    else if (this.#waiting.length > 0) this.#onMissed(error);
    this.#host.onIdle(this);
  }

  /**
   * An attempt failed, and requests wait. While other connections are open, those may serve them soon; or never, if theirs take for
   * ever: so it is tried again, with pauses, and they fail if none of them was served for a time.
   */
  #onMissed(error: unknown): void {
    if (this.#attempts.size > 0) return;
    const now = performance.now();
    if (this.#missed++ === 0) this.#missedSince = now;
    const patience = this.#host.options.connectTimeout || PATIENCE;
    if (this.#openConnections() === 0 || now - this.#missedSince > patience) return this.#failWaiting(error);
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(this.#missed - 1, 10));
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#grow();
    }, pause);
  }

  /** A request was served, or none waits: the next failure is the first again. */
  #forgetMisses(): void {
    this.#missed = 0;
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #failWaiting(error: unknown): void {
    this.#forgetMisses();
    while (this.#waiting.first !== undefined) {
      const request = this.#waiting.first;
      this.#waiting.remove(request);
      request.onNoConnection(error);
    }
  }
}
