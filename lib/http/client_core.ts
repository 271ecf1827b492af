import { afterPoll, keepsFailedImports } from "../runtime/mod.ts";
import { DeadlineList, Timer } from "../timers/mod.ts";
import type { ResolvedOptions } from "./http_client_options.ts";
import { HttpError } from "./http_error.ts";
import type { HttpClientEvent, HttpClientStats } from "./http_events.ts";
import { CallContext, type LiveCall, LiveCalls } from "./calls.ts";
import { isWatched } from "./diagnostics/diagnostics_channel.ts";
import type { FetchRequest } from "./request/fetch_request.ts";
import type { Failure } from "./response/response_body.ts";
import { load, type Target } from "./origin/open_connection.ts";
import { Origin, type OriginHost, originKey } from "./origin/origin.ts";

/** The maximum number of origins that are remembered without requests or connections. */
const MAX_IDLE_ORIGINS = 1000;

/** The maximum number of timeout lengths with a shared timer each. */
const TIMEOUTS_KEPT = 64;

/** The state that all requests of a client share: its options, origins, timeouts and counters. */
export class ClientCore implements OriginHost {
  readonly options: ResolvedOptions;
  closed = false;
  destroyed = false;
  #reason: unknown = undefined;
  readonly timeLeft: number = Infinity;
  requests = 0;
  retries = 0;
  /** The unfinished calls, up to the last byte of their responses, redirects and retries included. */
  readonly #calls = new LiveCalls();
  readonly #origins = new Map<string, Origin>();
  /** The context of the client's creation; undefined if no option is a function that requests and connections call. */
  readonly context: CallContext | undefined;
  readonly #deadlines = new Map<number, DeadlineList>();
  #drained: (() => void)[] = [];
  /** Keeps the process alive while the client closes: an unread response does not. */
  readonly #closing: Timer = new Timer(() => this.#giveUpUnread());

  constructor(options: ResolvedOptions) {
    this.options = options;
    const { proxyOf, lookup, connect, allowAddress, onEvent, onInformational, tls, proxyTls } = options;
    const check = tls.checkServerIdentity ?? proxyTls.checkServerIdentity;
    const hasHooks =
      (proxyOf ?? lookup ?? connect ?? allowAddress ?? onEvent ?? onInformational ?? check) !== undefined;
    this.context = hasHooks ? new CallContext() : undefined;
    if (keepsFailedImports) load(true).catch(() => {}); // early, while file descriptors are available
  }

  /**
   * Returns an origin, by its serialization and a URL of it, with the current proxy of its requests.
   * @param redirected Whether a redirect leads to the origin.
   * @throws {HttpError} INVALID_OPTION if the user's proxy function throws, or returns no proxy.
   */
  originOf(serialization: string, url: URL, redirected: boolean): Origin {
    const { proxyOf, allowAddress } = this.options;
    const redirect = redirected && allowAddress !== undefined;
    const known = proxyOf === undefined && !redirect ? this.#origins.get(serialization) : undefined;
    if (known !== undefined) return known;
    const direct = targetOf(serialization, url);
    const target = { ...direct, proxy: proxyOf?.(direct), redirect };
    return this.#origins.get(originKey(target)) ?? this.#add(target);
  }

  /** Adds an origin that may have been forgotten while a request for it was between two attempts. */
  remember(origin: Origin): void {
    this.#origins.set(origin.key, origin);
  }

  deadlinesOf(ms: number): DeadlineList {
    let deadlines = this.#deadlines.get(ms);
    if (deadlines === undefined) {
      const isKept = this.#deadlines.size < TIMEOUTS_KEPT;
      deadlines = new DeadlineList(ms, { afterPoll, rests: !isKept });
      if (isKept) this.#deadlines.set(ms, deadlines);
    }
    return deadlines;
  }

  /** Returns the caller's context; undefined if the request, like most, calls no user function. */
  contextOf({ body, trailers, onUploadProgress, limits: { onInformational } }: FetchRequest): CallContext | undefined {
    const isTold = (this.context ?? onInformational ?? onUploadProgress ?? trailers) !== undefined;
    return isTold || body?.replayable === false || isWatched() ? new CallContext() : undefined;
  }

  emit(event: HttpClientEvent, context: CallContext | undefined): void {
    const { onEvent } = this.options;
    if (onEvent !== undefined) this.notify(() => onEvent(event), context);
  }

  notify(hook: () => void, context: CallContext | undefined): void {
    try {
      if (context === undefined) hook();
      else context.run(hook);
    } catch (error) {
      // The error belongs to the hook, not to the request, and must not be swallowed.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  onBegin(call: LiveCall): void {
    this.#calls.add(call);
  }

  onEnd(call: LiveCall): void {
    this.#calls.delete(call);
    this.onIdle();
  }

  /** Closes all connections once the last request has ended; fulfils once the last connection has closed. */
  close(): Promise<void> {
    if (!this.closed) this.#giveUpUnread();
    this.closed = true;
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.onIdle();
    });
  }

  destroy(reason: unknown): void {
    this.closed = true;
    this.destroyed = true;
    this.#reason = reason;
    for (const call of this.#calls.all()) call.onDestroyed();
    for (const origin of this.#origins.values()) origin.destroy(this.closedError(origin.target.origin));
  }

  /** Returns a new error each time, since callers may change it. */
  closedError(origin: string | undefined): HttpError {
    const cause = this.#reason;
    if (this.destroyed) return new HttpError("CLIENT_CLOSED", "The client was destroyed", { origin, cause });
    return new HttpError("CLIENT_CLOSED", "The client was closed: make a new one for more requests", { origin });
  }

  /** Returns the reason why the response to a request can no longer be read; undefined if it can. */
  revocationOf({ signal, origin }: Pick<FetchRequest, "signal" | "origin">): Failure | undefined {
    if (signal?.aborted) return { reason: signal.reason };
    return this.destroyed ? { reason: this.closedError(origin) } : undefined;
  }

  stats(): HttpClientStats {
    const { requests, retries } = this;
    const none = { connections: 0, sessions: 0, connecting: 0, active: 0, queued: 0 };
    const stats: HttpClientStats = { ...none, requests, retries, origins: [] };
    for (const origin of this.#origins.values()) {
      const of = origin.stats();
      for (const name of ["connections", "sessions", "connecting", "active", "queued"] as const) {
        stats[name] += of[name];
      }
      stats.origins.push(of);
    }
    return stats;
  }

  /** Gives up responses that were not read from since the last check; repeated until there are no more calls. */
  #giveUpUnread(): void {
    const { closeTimeout } = this.options;
    if (closeTimeout === 0) return;
    for (const call of this.#calls.all()) call.giveUpUnread();
    if (!this.#calls.isEmpty) this.#closing.start(closeTimeout);
  }

  #add(target: Target): Origin {
    if (this.#origins.size >= MAX_IDLE_ORIGINS) {
      const oldest = this.#origins.values().find(({ idle }) => idle);
      if (oldest !== undefined) this.#origins.delete(oldest.key);
    }
    const origin = new Origin(target, this);
    this.#origins.set(origin.key, origin);
    return origin;
  }

  /** Closes the connections of a client that is closing, once it has no more calls. */
  onIdle(): void {
    if (!this.#calls.isEmpty) return;
    this.#closing.stop();
    if (this.#drained.length === 0) return;
    let idle = true;
    for (const origin of this.#origins.values()) {
      origin.close();
      idle &&= origin.idle;
    }
    if (!idle) return;
    for (const deadlines of this.#deadlines.values()) deadlines.rest();
    const drained = this.#drained;
    this.#drained = [];
    for (const resolve of drained) resolve();
  }
}

function targetOf(origin: string, url: URL): Omit<Target, "proxy" | "redirect"> {
  const secure = url.protocol === "https:";
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  return { origin, secure, host, port };
}
