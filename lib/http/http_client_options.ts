import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import {
  bool,
  func,
  integer,
  listOf,
  member,
  refuseUnused,
  schema,
  type SchemaOf,
  text,
  wordOrFunction,
} from "../streams/internal.ts";
import { MAX_TIMER_DELAY } from "../timers/mod.ts";
import { type HttpAddressUse, isPublicAddress } from "./connect/allowed_addresses.ts";
import type { HttpClientEvent } from "./http_events.ts";
import type { HttpInterceptor } from "./http_request.ts";
import { type ProxyChoice, readProxyOption } from "./proxy/proxy_option.ts";
import { type HttpTlsOptions, tlsOption } from "./tls_options.ts";

/**
 * A function that opens connections: byte streams over which the client speaks to a proxy, TLS and HTTP.
 *
 * Called for each connection, and once more if a certificate was refused, for the error's message. Each call must return a new stream of bytes, which may still be
 * connecting, like a socket of `connect()` of `node:net`. `signal` is aborted when the connection is no longer needed or took longer than `connectTimeout`; a stream
 * returned after that is destroyed.
 * @example A local address of one's own choice
 * ```ts
 * import { HttpClient, type HttpConnectFunction } from "@millrace/streams/http";
 * import { connect } from "node:net";
 *
 * const fromLoopback: HttpConnectFunction = ({ hostname, port }) =>
 *   connect({ host: hostname, port, localAddress: "127.0.0.1", noDelay: true });
 * const client = new HttpClient({ connect: fromLoopback });
 * console.log((await client.fetch("https://api.example.com/users/1")).status); // 200
 * client.destroy();
 * ```
 */
export type HttpConnectFunction = (
  target: {
    /** The origin that the connection is for. */
    readonly origin: string;
    /** The name or address of the origin's server, or of its proxy if there is one; IPv6 addresses without brackets. */
    readonly hostname: string;
    /** The server's port. */
    readonly port: number;
  },
  options: { readonly signal: AbortSignal },
) => Duplex | Promise<Duplex>;

type WithoutDefault = "socketPath" | "connect" | "lookup" | "allowAddress" | "onInformational" | "onEvent";

/**
 * The options of a client: connections, requests and limits.
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
   * @default the runtime's certificate authorities, no client certificate
   */
  tls?: HttpTlsOptions;
  /**
   * The proxy for requests: a URL of `http:`, `https:`, `socks5:` or `socks5h:`, which may have a user name and password, percent-encoded. A function is called for each
   * request and redirect, and returns such a URL, or undefined for none. `"env"` uses the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY when the client is
   * created.
   *
   * https origins are reached through a tunnel (CONNECT, or SOCKS5), with TLS to the origin inside. An HTTP proxy forwards requests to http origins. A proxy of `socks5:`
   * gets addresses, all others names.
   * @default none: the environment has no effect
   */
  proxy?: string | URL | ((origin: URL) => string | URL | null | undefined);
  /**
   * The TLS options for an `https:` proxy, with the names of `tls`, which does not apply to proxies.
   * @default the runtime's certificate authorities, no client certificate
   */
  proxyTls?: HttpTlsOptions;
  /**
   * A Unix socket for all connections, whatever the URLs' hosts, which only set the `Host` field and the expected certificate.
   * @default none
   */
  socketPath?: string;
  /**
   * Opens the connections to origins or their proxies, instead of `node:net`. The client adds TLS to the returned stream.
   * @default none
   */
  connect?: HttpConnectFunction;
  /**
   * The maximum number of connections of an origin. One h2 session carries as many requests as the server allows; further sessions open only for the rest. HTTP/1.1 uses
   * one connection for each concurrent request.
   * @default 256
   */
  connections?: number;
  /**
   * The maximum concurrent requests of an h2 session. It only lowers the server's SETTINGS_MAX_CONCURRENT_STREAMS.
   * @default Infinity
   */
  maxConcurrentStreams?: number;
  /**
   * The maximum number of concurrent requests of an HTTP/1.1 connection (RFC 9112 section 9.3.2). Above 1, idempotent requests without a body share a connection that has
   * answered one, except those that were lost before.
   * @default 1
   */
  pipelining?: number;
  /**
   * Whether an HTTP/1.1 connection is reused for later requests. False: each request has its own connection and sends `connection: close`, so that surplus bytes after a
   * response cannot reach another request. HTTP/2, which numbers responses, is not affected.
   * @default true
   */
  reuse?: boolean;
  /**
   * Whether h2 is offered to https origins (ALPN).
   * @default true
   */
  http2?: boolean;
  /**
   * Whether http origins get h2 requests, with prior knowledge (RFC 9113 section 3.3).
   * @default false
   */
  h2c?: boolean;
  /**
   * The time limit in ms for opening a connection, from the look-up of the name to the end of TLS, a proxy's steps included. 0: no limit.
   * @default 10_000
   */
  connectTimeout?: number;
  /**
   * The time limit of a request as a whole, redirects, retries and the response's body included, in ms. 0: no limit.
   * @default 0
   */
  timeout?: number;
  /**
   * The time limit of a request's wait for a connection, in ms. It may wait for a busy connection, for a new one, or for its host's address. 0: no limit.
   * @default 300_000
   */
  queueTimeout?: number;
  /**
   * The time limit from the last progress of the request, or its body, to the response's headers, in ms. 0: no limit.
   * @default 300_000
   */
  headersTimeout?: number;
  /**
   * The time limit of a reader's wait for a byte of the response's body, in ms. The same limit applies to the progress of a request's body after an early response. 0: no
   * limit.
   * @default 300_000
   */
  bodyTimeout?: number;
  /**
   * The time in ms that `close()` waits for an unread response: then its body is cancelled, and fails with CLIENT_CLOSED. Each read restarts the time. 0: no limit.
   * @default 5_000
   */
  closeTimeout?: number;
  /**
   * The time that a connection without requests is kept, in ms. 0: not at all. A server's Keep-Alive may lower it.
   * @default 4_000 for HTTP/1.1, whose servers close idle connections without notice; 60_000 for h2
   */
  idleTimeout?: number;
  /**
   * The maximum age in ms at which a connection takes another request. An older one closes once its requests have ended, and the next one looks the host's name up again.
   * 0: no limit.
   * @default 600_000
   */
  maxAge?: number;
  /**
   * The time in ms without a frame from the server after which an h2 session with open requests sends a PING. 0: never.
   * @default 30_000
   */
  pingInterval?: number;
  /**
   * The time in ms without a frame after a PING, for each 64 KiB of bodies before it that its server has not read, up to `headersTimeout`. After it, a session with open
   * requests is closed. The process and `close()` also wait up to this time until a server has read the sent bodies.
   * @default 10_000
   */
  pingTimeout?: number;
  /**
   * The maximum retries of a call over all its redirects, after a lost connection, a refusal or a status of `retryStatuses`. Retried are requests that are idempotent, or
   * that the server certainly did not act on, if their bodies can be sent again. A retry after the server closed an idle connection does not count.
   * @default 2
   */
  retries?: number;
  /**
   * Statuses from 400 to 999 after which a request is retried if it is idempotent and its body can be sent again, such as 429 and 503. The pause before is that of
   * Retry-After, otherwise 0.25 to 0.5 s, doubled each time.
   * @default none, as in `fetch()`
   */
  retryStatuses?: readonly number[];
  /**
   * The maximum pause in ms before a retry because of a status. A response that demands a longer one, or one beyond `timeout`, is returned to the caller.
   * @default 30_000
   */
  maxRetryAfter?: number;
  /**
   * The maximum bytes of a response's header section.
   * @default 65_536
   */
  maxHeaderSize?: number;
  /**
   * The maximum bytes of a response's decoded body; beyond, reading fails with LIMIT_EXCEEDED.
   * @default Infinity
   */
  maxResponseSize?: number;
  /**
   * The maximum bytes of a response that are received ahead of its reader: the window of an h2 stream.
   * @default 1_048_576
   */
  streamWindow?: number;
  /**
   * Whether `Accept-Encoding: zstd, br, gzip` is sent if a request has no such field, and bodies are decoded.
   * @default true
   */
  decompress?: boolean;
  /**
   * The maximum number of redirects to follow.
   * @default 20
   */
  maxRedirects?: number;
  /**
   * Functions around each request, the outermost first; those of a request run inside the client's.
   * @default none
   */
  intercept?: readonly HttpInterceptor[];
  /**
   * Resolves host names, with the signature of node:dns `lookup`.
   * @default the system's
   */
  lookup?: LookupFunction;
  /**
   * Whether an address may be connected to: `"public"` allows only public addresses of the Internet; a function allows an address by `true`. It is called for each
   * connection, with each address of the host; a request whose host has no allowed address fails with ADDRESS_REFUSED. It is not called for proxies; a name that a proxy
   * looks up itself is refused. Not to be combined with `connect` and `socketPath`.
   * @default any address
   */
  allowAddress?: "public" | ((address: string, use: HttpAddressUse) => boolean);
  /**
   * Called with informational (1xx) responses, such as 103 (Early Hints) and 100 (Continue). A request may have at most 1000, whose fields have at most `maxHeaderSize`
   * bytes together. An exception in it is uncaught.
   */
  onInformational?: (status: number, headers: Headers) => void;
  /** Called with each event of the client. An exception in it is uncaught. */
  onEvent?: (event: HttpClientEvent) => void;
}

/** The options of {@linkcode HttpClient}. */
export const httpClientOptions: SchemaOf<
  HttpClientOptions,
  Exclude<keyof HttpClientOptions, "tls" | "proxy" | "proxyTls" | "idleTimeout" | WithoutDefault>
> = /* @__PURE__ */ schema("HttpClient", () => ({
  tls: tlsOption(),
  proxy: member(
    'a URL, a function that returns one, or "env"',
    (value) => typeof value === "string" || typeof value === "function" || value instanceof URL,
  ),
  proxyTls: tlsOption(),
  socketPath: text(undefined, "the path of a Unix socket", (path) => path !== ""),
  connect: func<HttpConnectFunction>(),
  connections: integer(1, Infinity, 256),
  maxConcurrentStreams: integer(1, Infinity, Infinity),
  pipelining: integer(1, 1024, 1),
  reuse: bool(true),
  http2: bool(true),
  h2c: bool(false),
  connectTimeout: integer(0, MAX_TIMER_DELAY, 10_000),
  timeout: integer(0, MAX_TIMER_DELAY, 0),
  queueTimeout: integer(0, MAX_TIMER_DELAY, 300_000),
  headersTimeout: integer(0, MAX_TIMER_DELAY, 300_000),
  bodyTimeout: integer(0, MAX_TIMER_DELAY, 300_000),
  closeTimeout: integer(0, MAX_TIMER_DELAY, 5_000),
  idleTimeout: integer(0, MAX_TIMER_DELAY),
  maxAge: integer(0, MAX_TIMER_DELAY, 600_000),
  pingInterval: integer(0, MAX_TIMER_DELAY, 30_000),
  pingTimeout: integer(1, MAX_TIMER_DELAY, 10_000),
  retries: integer(0, 1000, 2),
  retryStatuses: listOf(integer(400, 999), "a list of statuses", []),
  maxRetryAfter: integer(0, MAX_TIMER_DELAY, 30_000),
  maxHeaderSize: integer(256, 2 ** 24, 65_536),
  maxResponseSize: integer(0, Infinity, Infinity),
  streamWindow: integer(1024, 2 ** 30, 2 ** 20),
  decompress: bool(true),
  maxRedirects: integer(0, 1000, 20),
  intercept: listOf(func<HttpInterceptor>(), "a list of functions", []),
  lookup: func<LookupFunction>(),
  allowAddress: wordOrFunction<(address: string, use: HttpAddressUse) => boolean, "public">(["public"]),
  onInformational: func<(status: number, headers: Headers) => void>(),
  onEvent: func<(event: HttpClientEvent) => void>(),
}));

type Settings = ReturnType<typeof httpClientOptions>;

/** Options with their defaults. */
export interface ResolvedOptions extends Omit<Settings, "tls" | "proxyTls" | "proxy" | "idleTimeout" | "allowAddress"> {
  readonly tls: HttpTlsOptions;
  readonly proxyTls: HttpTlsOptions;
  /** The proxy of each origin; undefined if no requests use a proxy. */
  readonly proxyOf: ProxyChoice | undefined;
  readonly allowAddress: ((address: string, use: HttpAddressUse) => boolean) | undefined;
  readonly http1IdleTimeout: number;
  readonly http2IdleTimeout: number;
}

/** Checks options; those that exclude each other are a TypeError. */
export function resolveOptions(options: HttpClientOptions): ResolvedOptions {
  const settings = httpClientOptions(options);
  requireOneWay(settings);
  const { tls, proxyTls, proxy, idleTimeout, allowAddress, ...others } = settings;
  return {
    ...others,
    // New objects for this client, since TLS sessions are kept under them.
    tls: tls ?? {},
    proxyTls: proxyTls ?? {},
    proxyOf: proxy === undefined ? undefined : readProxyOption(proxy),
    allowAddress: allowAddress === "public" ? isPublicAddress : allowAddress,
    http1IdleTimeout: idleTimeout ?? 4_000,
    http2IdleTimeout: idleTimeout ?? 60_000,
  };
}

function requireOneWay(settings: Settings): void {
  const { socketPath, proxy, connect } = settings;
  if (proxy === undefined) refuseUnused(settings, ["proxyTls"], "is of no use without proxy: name the proxy");
  if ((socketPath ?? connect) !== undefined) {
    const other = socketPath === undefined ? "connect" : "socketPath";
    const reason = `cannot be asked where ${other} says what is connected to: give one of them`;
    // A proxy may need addresses.
    refuseUnused(settings, proxy === undefined ? ["allowAddress", "lookup"] : ["allowAddress"], reason);
  }
  if (socketPath === undefined || (proxy ?? connect) === undefined) return;
  const other = proxy === undefined ? "connect" : "proxy";
  throw new TypeError(`socketPath and ${other} both say where connections go: give one of them`);
}
