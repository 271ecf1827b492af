import { Deadline, type DeadlineList, Timer } from "../../timers/mod.ts";
import { openConnectionTrace } from "../diagnostics/diagnostics_channel.ts";
import { type CallContext, inMicrotask } from "../calls.ts";
import type { Connection, Transport } from "../connection.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import type { HttpClientEvent, HttpOriginStats } from "../http_events.ts";
import { HttpError } from "../http_error.ts";
import {
  type ConnectionPool,
  ConnectionSet,
  PooledConnection,
  RequestQueue,
  type WaitingRequest,
} from "./connection_pool.ts";
import { connectTo, speakOver, type Target } from "./open_connection.ts";

export interface OriginHost {
  readonly options: ResolvedOptions;
  /** The context for steps that belong to no call. */
  readonly context: CallContext | undefined;
  emit(event: HttpClientEvent, context: CallContext | undefined): void;
  /** A connection, or an attempt at one, has ended. */
  onIdle(origin: Origin): void;
  deadlinesOf(ms: number): DeadlineList;
}

/** Returns the key of an origin: its address, its proxy and the arguments of `allowAddress` for its connections. */
export function originKey({ origin, proxy, redirect }: Pick<Target, "origin" | "proxy" | "redirect">): string {
  return `${origin}${proxy === undefined ? "" : ` ${proxy.key}`}${redirect ? " redirect" : ""}`;
}

/** The time limit in ms of retrying to connect while other connections are busy, if connections have no timeout. */
const MAX_CONNECT_RETRY_TIME = 10_000;
/** The first pause in ms between attempts to connect; each further one is twice as long. */
const FIRST_PAUSE = 50;
const MAX_RETRY_DELAY = 2000;

/**
 * The connections to one origin, and the requests that wait for them.
 *
 * The first connection to an unknown origin opens alone: a burst of requests waits until TLS has negotiated the protocol (ALPN). With h2, the burst uses that session, as
 * far as the server's SETTINGS allow; the rest uses further sessions, up to `connections`. With HTTP/1.1, as many connections open at once as requests wait. The protocol
 * is remembered.
 */
export class Origin implements ConnectionPool {
  readonly target: Target;
  /** The identifying key: an origin with several proxies counts as several, each with its own connections. */
  readonly key: string;
  readonly #host: OriginHost;
  readonly #waiting = new RequestQueue(this);
  readonly #connections = new ConnectionSet();
  readonly #attempts = new Set<AbortController>();
  #protocol: "h2" | "http/1.1" | undefined;
  /** The number of streams that the last session's server allowed; undefined before any SETTINGS. */
  #streamsAllowed: number | undefined = undefined;
  #http1Only = false;
  /** The pause before the next attempt after a failed one, while other open connections may serve the waiting requests. */
  readonly #pause: Timer = new Timer(() => this.#grow(), { keepsAlive: false });
  /** The timer for the end of the rest of a connection for which a request waits. */
  readonly #rest: Timer = new Timer(() => this.#startWaiting());
  /** The time of the first failure; 0 if none has failed since a request was served. */
  #missedSince = 0;
  /** The pause in ms after the next failure, whatever the open connections serve. */
  #pauseMs = FIRST_PAUSE;

  constructor(target: Target, host: OriginHost) {
    this.target = target;
    this.key = originKey(target);
    this.#host = host;
    if (!target.secure) this.#protocol = host.options.h2c ? "h2" : "http/1.1";
    else if (!host.options.http2) this.#protocol = "http/1.1";
  }

  get idle(): boolean {
    return this.#connections.size === 0 && this.#attempts.size === 0 && this.#waiting.length === 0;
  }

  schedule(request: WaitingRequest): void {
    if (this.#waiting.length === 0) {
      const pooled = this.#find(request);
      if (pooled !== undefined) return request.startOn(pooled);
    }
    this.#waiting.push(request);
    this.#startWaiting();
  }

  /** Schedules a request again: it keeps its place in the queue. */
  scheduleAgain(request: WaitingRequest): void {
    this.#waiting.unshift(request);
    this.#startWaiting();
  }

  /** Removes a request from the queue, and cancels connection attempts for which no request waits. */
  withdraw(request: WaitingRequest): void {
    this.#waiting.remove(request);
    if (this.#waiting.length > 0) return;
    this.#endPause();
    for (const attempt of this.#attempts) attempt.abort();
  }

  /** Handles HTTP_1_1_REQUIRED (RFC 9113 section 7): from now on only HTTP/1.1 is used with the server. */
  requireHttp1(): void {
    if (this.#http1Only) return;
    this.#http1Only = true;
    this.#protocol = "http/1.1";
    this.#connections.closeSessions();
  }

  close(): void {
    for (const attempt of this.#attempts) attempt.abort();
    this.#connections.close();
  }

  destroy(error: HttpError): void {
    this.#failWaiting(error);
    this.close();
    this.#connections.destroy(error);
  }

  stats(): HttpOriginStats {
    return {
      origin: this.target.origin,
      proxy: this.target.proxy?.url,
      protocol: this.#protocol,
      ...this.#connections.counts(),
      connecting: this.#attempts.size,
      queued: this.#waiting.length,
    };
  }

  /** Pauses attempts after a connection that ended without an answer as after one that could not be opened, until another one has answered. */
  onProved(isGood: boolean): void {
    if (!isGood) return this.#pause.isSet ? undefined : this.#startPause();
    this.#pauseMs = FIRST_PAUSE;
    if (!this.#pause.isSet) return;
    this.#pause.stop();
    inMicrotask(() => this.#startWaiting()); // once the origin knows the SETTINGS of the same chunk
  }

  onReady(pooled: PooledConnection): void {
    const { peerMaxConcurrentStreams } = pooled.connection;
    if (peerMaxConcurrentStreams !== undefined) this.#streamsAllowed = peerMaxConcurrentStreams;
    this.#connections.onReady(pooled);
    this.#startWaiting();
  }

  onClosing(pooled: PooledConnection): void {
    this.#connections.onClosing(pooled);
    this.#grow();
  }

  onClosed(pooled: PooledConnection, error: HttpError | undefined): void {
    this.#connections.delete(pooled);
    const { protocol } = pooled.connection;
    this.#host.emit({ type: "disconnect", origin: this.target.origin, protocol, error }, this.#host.context);
    this.#grow();
    this.#host.onIdle(this);
  }

  #startWaiting(): void {
    let request = this.#waiting.first;
    while (request !== undefined) {
      const pooled = this.#find(request);
      if (pooled !== undefined) {
        this.#waiting.remove(request);
        request.startOn(pooled);
        request = this.#waiting.first;
      } else if (request.newerThan > 0) {
        request = request.nextWaiting; // others need no new connection
      } else {
        break;
      }
    }
    this.#grow();
  }

  #find(request: WaitingRequest): PooledConnection | undefined {
    // No newer connection will be opened, at least not now.
    if (this.#pause.isSet || this.#connections.open >= this.#host.options.connections) request.newerThan = 0;
    const found = this.#connections.find(request, this.#room > 0);
    if (found !== undefined) this.#missedSince = 0;
    const { restsUntil } = this.#connections;
    if (restsUntil > 0) this.#rest.setDue(restsUntil);
    return found;
  }

  /** The number of connections that may still be opened. Closing ones do not count, since their requests may last. */
  get #room(): number {
    return this.#host.options.connections - this.#connections.open - this.#attempts.size;
  }

  #grow(): void {
    if (this.#waiting.length === 0) return;
    if (this.#pause.isSet && this.#connections.open > 0) return;
    if (this.#streamsAllowed === 0 && this.#connections.open > 0) {
      // This may last for a short time (RFC 9113 section 5.1.2); further sessions would not help.
      if (this.#mayPause()) return;
      const { origin } = this.target;
      const message = `${origin} allows no requests (SETTINGS_MAX_CONCURRENT_STREAMS is 0)`;
      return this.#failWaiting(new HttpError("REFUSED", message, { origin }));
    }
    const wanted = Math.min(this.#room, this.#connectionsWanted());
    if (wanted <= 0) return;
    let request = this.#waiting.first;
    for (let taken = 0; taken < this.#attempts.size; taken++) request = request?.nextWaiting; // skips the requests that running attempts serve
    for (let i = 0; i < wanted; i++) {
      const context = (request ?? this.#waiting.first)?.context;
      request = request?.nextWaiting;
      if (context === undefined) this.#open(context);
      else context.run(() => this.#open(context));
    }
  }

  #connectionsWanted(): number {
    if (this.#protocol === "http/1.1") {
      return Math.ceil(this.#waiting.length / this.#host.options.pipelining) - this.#attempts.size;
    }
    // Only one attempt at a time until the protocol is known, and until a session knows how many streams the server allows.
    if (this.#connections.awaitsSettings) return 0;
    if (this.#connections.open === 0) return 1 - this.#attempts.size;
    const perSession = Math.min(this.#streamsAllowed ?? 1, this.#host.options.maxConcurrentStreams);
    return (Math.ceil(this.#waiting.length / perSession) || 1) - this.#attempts.size; // no session takes those that wait
  }

  #open(context: CallContext | undefined): void {
    const attempt = new AbortController();
    this.#attempts.add(attempt);
    const began = performance.now();
    const http1Only = this.#http1Only;
    const trace = openConnectionTrace(this.target, this.#host.options.tls.servername);
    connectTo(this.target, this.#host.options, { signal: attempt.signal, http1Only }).then(
      (transport) => {
        this.#attempts.delete(attempt);
        trace?.onConnected(transport);
        const connection = this.#onConnected(transport, performance.now() - began, context);
        // The attempt was cancelled in the same turn in which it succeeded.
        if (attempt.signal.aborted && this.#waiting.length === 0) connection.close();
      },
      (error) => {
        this.#attempts.delete(attempt);
        if (attempt.signal.aborted) {
          this.#grow();
        } else {
          trace?.onError(error);
          const { origin, proxy } = this.target;
          this.#host.emit({ type: "connectFailed", origin, proxy: proxy?.url, error }, context);
          if (this.#waiting.length > 0) this.#onMissed(error);
        }
        this.#host.onIdle(this);
      },
    );
  }

  #onConnected(transport: Transport, ms: number, context: CallContext | undefined): Connection {
    const { target } = this;
    const owner = new PooledConnection(this, transport);
    const terms = { owner, allowedAtFirst: this.#streamsAllowed || 1, http1Only: this.#http1Only };
    const connection = speakOver(transport, target, this.#host.options, terms);
    const { protocol } = connection;
    owner.connection = connection;
    this.#protocol = protocol;
    this.#connections.add(owner);
    const { maxAge } = this.#host.options;
    if (maxAge > 0) owner.age = new Deadline(this.#host.deadlinesOf(maxAge), () => connection.close());
    const { origin, proxy } = target;
    const { remoteAddress } = transport;
    this.#host.emit({ type: "connect", origin, proxy: proxy?.url, protocol, remoteAddress, ms }, context);
    this.onReady(owner);
    return connection;
  }

  #onMissed(error: unknown): void {
    if (this.#attempts.size > 0) return;
    const isFinal = error instanceof HttpError && error.code === "ADDRESS_REFUSED";
    if (isFinal || this.#connections.open === 0 || !this.#mayPause()) this.#failWaiting(error);
    else this.#startWaiting();
  }

  #startPause(): void {
    this.#pause.start(this.#pauseMs);
    this.#pauseMs = Math.min(MAX_RETRY_DELAY, 2 * this.#pauseMs);
  }

  /** Sets the pause before the next attempt; returns false once attempts have failed for too long. */
  #mayPause(): boolean {
    this.#startPause();
    const now = performance.now();
    this.#missedSince ||= now;
    return now - this.#missedSince <= (this.#host.options.connectTimeout || MAX_CONNECT_RETRY_TIME);
  }

  /** Resets the failures, once none waits. */
  #endPause(): void {
    this.#missedSince = 0;
    this.#pauseMs = FIRST_PAUSE;
    this.#pause.stop();
  }

  #failWaiting(error: unknown): void {
    this.#endPause();
    while (this.#waiting.first !== undefined) {
      const request = this.#waiting.first;
      this.#waiting.remove(request);
      request.fail(error);
    }
  }
}
