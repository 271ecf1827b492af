import type { LookupFunction } from "node:net";
import { described, requireKnown } from "../streams/internal.ts";
import type { HttpConnectFunction } from "./connect_function.ts";
import { checkTlsOptions } from "./connect/secure/check_tls_options.ts";
import type { HttpClientEvent } from "./http_events.ts";
import type { HttpInterceptor } from "./http_interceptor.ts";
import { type ProxyChoice, readProxyOption } from "./proxy/proxy_choice.ts";
import type { HttpTlsOptions } from "./tls_options.ts";

/**
 * How a client connects and what it allows.
 *
 * @example A client for a slow service
 * ```ts
 * import { HttpClient, type HttpClientOptions } from "@millrace/streams/http";
 *
 * const options: HttpClientOptions = { connections: 4, headersTimeout: 60_000, retries: 5 };
 * const client = new HttpClient(options);
 * const response = await client.fetch("https://api.example.com/users/1");
 * console.log((await response.json()).id); // 1
 * await client.close();
 * ```
 */
export interface HttpClientOptions {
  /**
   * TLS, by the names of node:tls: `ca`, `cert`, `key`, `rejectUnauthorized` and so on.
   *
   * @default the runtime's certificate authorities, no client certificate
   */
  tls?: HttpTlsOptions;
  /**
   * The proxy that requests go by: a URL of `http:`, `https:`, `socks5:` or `socks5h:`, which may have a user name and password,
   * percent-encoded; a function that is asked for each request and redirect and gives such a URL, or undefined for none; or `"env"`
   * for those that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name when the client is made.
   *
   * https origins are reached through a tunnel (CONNECT, or SOCKS5), in which TLS is spoken with the origin itself. Requests to http
   * origins are sent to an HTTP proxy as they are, which sends them on. A proxy of `socks5:` is given addresses, all others names.
   *
   * @default none, whatever the environment says
   */
  proxy?: string | URL | ((origin: URL) => string | URL | null | undefined);
  /**
   * TLS with an `https:` proxy, by the names of `tls`, of which nothing is shown to a proxy.
   *
   * @default the runtime's certificate authorities, no client certificate
   */
  proxyTls?: HttpTlsOptions;
  /**
   * A Unix socket that all connections are made to, whatever the URLs' hosts are. They still say which host is asked for, and what
   * the certificate has to be for.
   *
   * @default none
   */
  socketPath?: string;
  /**
   * Makes the connections, to origins or to their proxies, in place of `node:net`; TLS is spoken over what it gives.
   *
   * @default none
   */
  connect?: HttpConnectFunction;
  /**
   * How many connections an origin may have. One h2 session carries as many requests as the server allows; more are opened only
   * for what does not fit. HTTP/1.1 has a connection a request.
   *
   * @default 256
   */
  connections?: number;
  /**
   * How many requests an h2 session carries at most. The server's SETTINGS_MAX_CONCURRENT_STREAMS rules; this only lowers it.
   *
   * @default Infinity
   */
  maxConcurrentStreams?: number;
  /**
   * How many requests an HTTP/1.1 connection carries at a time (RFC 9112 section 9.3.2). More than one only of requests that are idempotent
   * and have no body.
   *
   * @default 1
   */
  pipelining?: number;
  /**
   * Whether h2 is offered to https origins (ALPN).
   *
   * @default true
   */
  http2?: boolean;
  /**
   * Whether http origins are spoken to in h2, with prior knowledge (RFC 9113 section 3.3).
   *
   * @default false
   */
  h2c?: boolean;
  /**
   * Whether an h2 session also carries the requests of other https origins, if its certificate covers them and their names lead to
   * its address (RFC 9113 section 9.1.1). A name is looked up once for each session, within `connectTimeout`.
   *
   * @default false
   */
  coalesce?: boolean;
  /**
   * How long a connection may take in ms, from the look-up of the name to the end of TLS, a proxy's part included. 0: as long as the
   * system lets it.
   *
   * @default 10_000
   */
  connectTimeout?: number;
  /**
   * How long a request may take as a whole, redirects, retries and the response's body included, in ms. 0: for ever.
   *
   * @default 0
   */
  timeout?: number;
  /**
   * How long a request may wait for a connection, in ms: while others use all there may be, while one is being made, and while the
   * name of its host is looked up. 0: for ever.
   *
   * @default 300_000
   */
  queueTimeout?: number;
  /**
   * How long a server may take from the request to the response's headers, in ms. 0: for ever.
   *
   * @default 300_000
   */
  headersTimeout?: number;
  /**
   * How long a reader may wait for a byte of the response's body, in ms. 0: for ever.
   *
   * @default 300_000
   */
  bodyTimeout?: number;
  /**
   * How long a connection without requests is kept, in ms. 0: not at all. What a server's Keep-Alive field says rules where it is less.
   *
   * @default 4_000 for HTTP/1.1, of which servers close unused connections without a word; 60_000 for h2
   */
  idleTimeout?: number;
  /**
   * After how much silence an h2 session with requests under way is asked for a sign of life (PING), in ms. 0: never.
   *
   * @default 30_000
   */
  pingInterval?: number;
  /**
   * How long that sign may take before the session is given up, in ms.
   *
   * @default 10_000
   */
  pingTimeout?: number;
  /**
   * How often a request is sent again after its connection was lost or the server refused it. Only requests that are idempotent, or
   * that the server certainly did not act on; and only bodies that can be sent again.
   *
   * @default 2
   */
  retries?: number;
  /**
   * Statuses, of 400 to 999, after which a request is sent again if it is idempotent and its body can be sent again: 429 and 503, say.
   * `retries` counts these attempts too. The pause before is what Retry-After says, and otherwise 0.25 to 0.5 s, doubled each time.
   *
   * @default none, as fetch has it
   */
  retryStatuses?: readonly number[];
  /**
   * The longest pause before an attempt because of a status, in ms. A response that asks for more, or for more than is left of `timeout`,
   * is not retried: the caller gets it.
   *
   * @default 30_000
   */
  maxRetryAfter?: number;
  /**
   * Bytes that a response's header section may have.
   *
   * @default 65_536
   */
  maxHeaderSize?: number;
  /**
   * Bytes that a response's body may have once it is decoded; with more, its reading fails with LIMIT_EXCEEDED.
   *
   * @default Infinity
   */
  maxResponseSize?: number;
  /**
   * Bytes of a response that are received before somebody reads them: the window of an h2 stream.
   *
   * @default 1_048_576
   */
  streamWindow?: number;
  /**
   * Whether `Accept-Encoding: zstd, br, gzip` is sent where a request has no such field, and bodies are decoded.
   *
   * @default true
   */
  decompress?: boolean;
  /**
   * How many redirects are followed.
   *
   * @default 20
   */
  maxRedirects?: number;
  /**
   * Functions around each request, the outermost first; those of a request come after the client's.
   *
   * @default none
   */
  intercept?: readonly HttpInterceptor[];
  /**
   * Resolves host names, with the signature of node:dns `lookup`.
   *
   * @default the system's
   */
  lookup?: LookupFunction;
  /**
   * Told of informational (1xx) responses, as 103 (Early Hints) and 100 (Continue), with their status and fields. A request may have at most
   * 1000, whose fields have at most `maxHeaderSize` bytes together. An exception it throws is an uncaught one.
   */
  onInformational?: (status: number, headers: Headers) => void;
  /** Told what the client does, as it happens. What it throws is an uncaught exception. */
  onEvent?: (event: HttpClientEvent) => void;
}

/** Options that are undefined if they are not given. */
type NoDefault = "lookup" | "onInformational" | "onEvent" | "socketPath" | "connect";

/** Options with their defaults. */
export interface ResolvedOptions
  extends Required<Omit<HttpClientOptions, NoDefault | "proxy" | "idleTimeout">>, Pick<HttpClientOptions, NoDefault> {
  /** Undefined: no request goes by a proxy. */
  readonly proxyOf: ProxyChoice | undefined;
  readonly http1IdleTimeout: number;
  readonly http2IdleTimeout: number;
}

/** The longest delay that timers know, in ms (24.8 days). */
const LONGEST = 2 ** 31 - 1;

/** The range of each numeric option, from and to. */
const ranges: Readonly<Record<NumberOption, readonly [number, number]>> = {
  connections: [1, Infinity],
  maxConcurrentStreams: [1, Infinity],
  pipelining: [1, 1024],
  connectTimeout: [0, LONGEST],
  timeout: [0, LONGEST],
  queueTimeout: [0, LONGEST],
  headersTimeout: [0, LONGEST],
  bodyTimeout: [0, LONGEST],
  idleTimeout: [0, LONGEST],
  pingInterval: [0, LONGEST],
  pingTimeout: [1, LONGEST],
  retries: [0, 1000],
  maxRetryAfter: [0, LONGEST],
  maxHeaderSize: [256, 2 ** 24],
  maxResponseSize: [0, Infinity],
  streamWindow: [1024, 2 ** 30],
  maxRedirects: [0, 1000],
};

/** The options that are numbers. */
type NumberOption =
  | "connections"
  | "maxConcurrentStreams"
  | "pipelining"
  | "connectTimeout"
  | "timeout"
  | "queueTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "idleTimeout"
  | "pingInterval"
  | "pingTimeout"
  | "retries"
  | "maxRetryAfter"
  | "maxHeaderSize"
  | "maxResponseSize"
  | "streamWindow"
  | "maxRedirects";

const flags = ["http2", "h2c", "coalesce", "decompress"] as const;
const callbacks = ["lookup", "onInformational", "onEvent", "connect"] as const;
const others = ["tls", "retryStatuses", "intercept", "proxy", "proxyTls", "socketPath"] as const;

const known = Object.fromEntries(
  [...others, ...Object.keys(ranges), ...flags, ...callbacks].map((name) => [name, true]),
);

/**
 * Reads options.
 *
 * @throws {TypeError} if one has the wrong type.
 * @throws {RangeError} if a number is out of range.
 */
export function resolveOptions(options: HttpClientOptions): ResolvedOptions {
  requireKnown(options, known, "HttpClient");
  for (const name of Object.keys(ranges) as NumberOption[]) checkNumber(name, options[name]);
  for (const name of flags) checkType(name, options[name], "boolean");
  for (const name of callbacks) checkType(name, options[name], "function");
  for (const name of ["tls", "proxyTls"] as const) checkType(name, options[name], "object");
  checkSocketPath(options);
  const { idleTimeout, proxy } = options;
  return {
    tls: checkTlsOptions(options.tls ?? {}),
    proxyTls: checkTlsOptions(options.proxyTls ?? {}, "proxyTls"),
    proxyOf: proxy === undefined ? undefined : readProxyOption(proxy),
    socketPath: options.socketPath,
    connect: options.connect,
    connections: options.connections ?? 256,
    maxConcurrentStreams: options.maxConcurrentStreams ?? Infinity,
    pipelining: options.pipelining ?? 1,
    http2: options.http2 ?? true,
    h2c: options.h2c ?? false,
    coalesce: options.coalesce ?? false,
    connectTimeout: options.connectTimeout ?? 10_000,
    timeout: options.timeout ?? 0,
    queueTimeout: options.queueTimeout ?? 300_000,
    headersTimeout: options.headersTimeout ?? 300_000,
    bodyTimeout: options.bodyTimeout ?? 300_000,
    http1IdleTimeout: idleTimeout ?? 4_000,
    http2IdleTimeout: idleTimeout ?? 60_000,
    pingInterval: options.pingInterval ?? 30_000,
    pingTimeout: options.pingTimeout ?? 10_000,
    retries: options.retries ?? 2,
    retryStatuses: checkStatuses(options.retryStatuses) ?? [],
    maxRetryAfter: options.maxRetryAfter ?? 30_000,
    maxHeaderSize: options.maxHeaderSize ?? 65_536,
    maxResponseSize: options.maxResponseSize ?? Infinity,
    streamWindow: options.streamWindow ?? 2 ** 20,
    decompress: options.decompress ?? true,
    maxRedirects: options.maxRedirects ?? 20,
    intercept: checkInterceptors(options.intercept),
    lookup: options.lookup,
    onInformational: options.onInformational,
    onEvent: options.onEvent,
  };
}

/**
 * Checks a timeout or another number by the range of its name.
 *
 * @throws {TypeError | RangeError} if it is none, or out of range.
 */
export function checkNumber(name: NumberOption, value: unknown): void {
  if (value === undefined) return;
  const [least, most] = ranges[name];
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${described(value)}`);
  const whole = Number.isInteger(value) || value === Infinity;
  if (whole && value >= least && value <= most) return;
  throw new RangeError(`${name} ${value} is out of range: use a whole number from ${least} to ${most}`);
}

/**
 * Checks the statuses that are retried.
 *
 * @returns a copy.
 * @throws {TypeError | RangeError} if they are no list of such statuses.
 */
export function checkStatuses(statuses: readonly number[] | undefined): readonly number[] | undefined {
  if (statuses === undefined) return undefined;
  if (!Array.isArray(statuses)) throw new TypeError(`retryStatuses must be an array, not ${String(statuses)}`);
  const wrong = statuses.find((status) => !Number.isInteger(status) || status < 400 || status > 999);
  if (wrong === undefined) return [...statuses];
  throw new RangeError(`retryStatuses cannot have ${String(wrong)}: use whole numbers from 400 to 999`);
}

/**
 * Checks interceptors.
 *
 * @returns a copy; empty if there are none.
 * @throws {TypeError} if they are no list of functions.
 */
export function checkInterceptors(interceptors: readonly HttpInterceptor[] | undefined): readonly HttpInterceptor[] {
  if (interceptors === undefined) return [];
  if (Array.isArray(interceptors) && interceptors.every((each) => typeof each === "function")) return [...interceptors];
  throw new TypeError("intercept must be an array of functions");
}

function checkSocketPath({ socketPath, proxy, connect }: HttpClientOptions): void {
  if (socketPath === undefined) return;
  if (typeof socketPath !== "string" || socketPath === "") {
    throw new TypeError(`socketPath must be the path of a Unix socket, not ${JSON.stringify(socketPath)}`);
  }
  if (proxy === undefined && connect === undefined) return;
  throw new TypeError(`socketPath and ${proxy ? "proxy" : "connect"} both say where connections go: give one of them`);
}

function checkType(name: string, value: unknown, type: "boolean" | "function" | "object"): void {
  if (value === undefined || (typeof value === type && value !== null)) return;
  throw new TypeError(`${name} must be ${type === "object" ? "an object" : `a ${type}`}, not ${described(value)}`);
}
