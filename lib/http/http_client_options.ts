import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import {
  bool,
  func,
  integer,
  listOf,
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
import { type ProxyChoice, proxyOption, readProxyOption } from "./proxy/proxy_option.ts";
import { type HttpTlsOptions, tlsOption } from "./tls_options.ts";

/**
 * A function that makes connections: byte streams on which the client then speaks TLS, with the proxy, and HTTP.
 *
 * Called for each connection, and once more if a certificate was refused, for the error's message: each time for another stream, of
 * bytes. It may still be connecting, as the socket is that `connect()` of `node:net` returns. `signal` is aborted when the connection is no longer wanted
 * or took longer than `connectTimeout`; a stream that comes after that is destroyed.
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
    /** Its port. */
    readonly port: number;
  },
  options: { readonly signal: AbortSignal },
) => Duplex | Promise<Duplex>;

/** Options without a default. */
type WithoutDefault = "socketPath" | "connect" | "lookup" | "allowAddress" | "onInformational" | "onEvent";

/**
 * The options of a client: how it connects and what it allows.
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
   * The proxy that requests go by: a URL of `http:`, `https:`, `socks5:` or `socks5h:`, which may have a user name and
   * password, percent-encoded. A function is called for each request and redirect, and returns such a URL, or undefined
   * for none. `"env"` takes those that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name when the client is made.
   *
   * https origins are reached through a tunnel (CONNECT, or SOCKS5), in which TLS is spoken with the origin itself. Requests to http
   * origins are sent to an HTTP proxy as they are, which sends them on. A proxy of `socks5:` is given addresses, all others names.
   * @default none, whatever the environment says
   */
  proxy?: string | URL | ((origin: URL) => string | URL | null | undefined);
  /**
   * TLS with an `https:` proxy, by the names of `tls`, of which nothing is shown to a proxy.
   * @default the runtime's certificate authorities, no client certificate
   */
  proxyTls?: HttpTlsOptions;
  /**
   * A Unix socket that all connections are made to, whatever the URLs' hosts are. They still name the requested host,
   * and the subject of the certificate.
   * @default none
   */
  socketPath?: string;
  /**
   * Makes the connections, to origins or to their proxies, in place of `node:net`; TLS is spoken over what it gives.
   * @default none
   */
  connect?: HttpConnectFunction;
  /**
   * The maximum number of connections of an origin. One h2 session carries as many requests as the server allows; more
   * are opened only for what does not fit. HTTP/1.1 has a connection a request.
   * @default 256
   */
  connections?: number;
  /**
   * The maximum concurrent requests of an h2 session. It only lowers the server's SETTINGS_MAX_CONCURRENT_STREAMS.
   * @default Infinity
   */
  maxConcurrentStreams?: number;
  /**
   * The maximum number of concurrent requests of an HTTP/1.1 connection (RFC 9112 section 9.3.2). More than one only of
   * requests that are idempotent and have no body.
   * @default 1
   */
  pipelining?: number;
  /**
   * Whether an HTTP/1.1 connection carries one request after the other. False: each has a connection of its own, and says `connection: close`,
   * so that nothing a server sends behind a response can meet another request. HTTP/2 is as ever: there each response says which request it is for.
   * @default true
   */
  reuse?: boolean;
  /**
   * Whether h2 is offered to https origins (ALPN).
   * @default true
   */
  http2?: boolean;
  /**
   * Whether http origins are spoken to in h2, with prior knowledge (RFC 9113 section 3.3).
   * @default false
   */
  h2c?: boolean;
  /**
   * The time limit of a connection in ms, from the look-up of the name to the end of TLS, a proxy's part included. 0: no limit.
   * @default 10_000
   */
  connectTimeout?: number;
  /**
   * The time limit of a request as a whole, redirects, retries and the response's body included, in ms. 0: for ever.
   * @default 0
   */
  timeout?: number;
  /**
   * The time limit of a request's wait for a connection, in ms. It may wait for others that use all there may be, for a
   * new one, or for its host's address. 0: for ever.
   * @default 300_000
   */
  queueTimeout?: number;
  /**
   * The time limit from the last progress of the request, or its body, to the response's headers, in ms. 0: for ever.
   * @default 300_000
   */
  headersTimeout?: number;
  /**
   * The time limit of a reader's wait for a byte of the response's body, in ms. A request's body that is sent on after
   * an early response may go without progress as long. 0: for ever.
   * @default 300_000
   */
  bodyTimeout?: number;
  /**
   * The time that `close()` waits for a response that is not read, in ms: then its body is cancelled, and fails with
   * CLIENT_CLOSED. A response that is read from now and then has no limit. 0: for ever.
   * @default 5_000
   */
  closeTimeout?: number;
  /**
   * The time that a connection without requests is kept, in ms. 0: not at all. A server's Keep-Alive may lower it.
   * @default 4_000 for HTTP/1.1, of which servers close unused connections without a word; 60_000 for h2
   */
  idleTimeout?: number;
  /**
   * The maximum age of a connection for another request, in ms. An older one closes once the requests under way have
   * ended, and the host's name is looked up again for the next. 0: of any age.
   * @default 600_000
   */
  maxAge?: number;
  /**
   * The time of silence after which an h2 session with requests under way gets a PING, in ms. 0: never.
   * @default 30_000
   */
  pingInterval?: number;
  /**
   * The time of silence after a PING, in ms. A session with requests is closed then; the process, and `close()`, wait as
   * long for a server to have read its bodies.
   * @default 10_000
   */
  pingTimeout?: number;
  /**
   * The maximum attempts of a call after the first, over all its redirects. They follow a lost connection, a refusal or a status of
   * `retryStatuses`: of requests that are idempotent, or that the server certainly did not act on, with bodies that can be sent
   * again. One more is free if the server had closed the used connection.
   * @default 2
   */
  retries?: number;
  /**
   * Statuses, of 400 to 999, after which a request is sent again if it is idempotent and its body can be sent again: 429 and 503, say.
   * The pause before is what Retry-After says, and otherwise 0.25 to 0.5 s, doubled each time.
   * @default none, as `fetch()` has it
   */
  retryStatuses?: readonly number[];
  /**
   * The longest pause before an attempt because of a status, in ms. A response that asks for more, or for more than is left of `timeout`,
   * is not retried: the caller gets it.
   * @default 30_000
   */
  maxRetryAfter?: number;
  /**
   * Bytes that a response's header section may have.
   * @default 65_536
   */
  maxHeaderSize?: number;
  /**
   * Bytes that a response's body may have once it is decoded; with more, its reading fails with LIMIT_EXCEEDED.
   * @default Infinity
   */
  maxResponseSize?: number;
  /**
   * Bytes of a response that are received before it is read: the window of an h2 stream.
   * @default 1_048_576
   */
  streamWindow?: number;
  /**
   * Whether `Accept-Encoding: zstd, br, gzip` is sent where a request has no such field, and bodies are decoded.
   * @default true
   */
  decompress?: boolean;
  /**
   * The maximum number of redirects that are followed.
   * @default 20
   */
  maxRedirects?: number;
  /**
   * Functions around each request, the outermost first; those of a request come after the client's.
   * @default none
   */
  intercept?: readonly HttpInterceptor[];
  /**
   * Resolves host names, with the signature of node:dns `lookup`.
   * @default the system's
   */
  lookup?: LookupFunction;
  /**
   * Whether an address may be connected to: `"public"` for those of the public Internet alone, or a function that
   * allows one by `true`. It is called for each connection, with each address of the host; a request whose host has no
   * allowed address fails with ADDRESS_REFUSED. It is not called for proxies; a name that a proxy looks up itself is
   * refused. Not to be combined with `connect` and `socketPath`.
   * @default any address
   */
  allowAddress?: "public" | ((address: string, use: HttpAddressUse) => boolean);
  /**
   * Called with informational (1xx) responses, as 103 (Early Hints) and 100 (Continue). A request may have at most
   * 1000, whose fields have at most `maxHeaderSize` bytes together. An exception it throws is an uncaught one.
   */
  onInformational?: (status: number, headers: Headers) => void;
  /** Told what the client does, as it happens. What it throws is an uncaught exception. */
  onEvent?: (event: HttpClientEvent) => void;
}

/** The options of {@linkcode HttpClient}. */
export const httpClientOptions: SchemaOf<
  HttpClientOptions,
  Exclude<keyof HttpClientOptions, "tls" | "proxy" | "proxyTls" | "idleTimeout" | WithoutDefault>
> = /* @__PURE__ */ schema("HttpClient", () => ({
  tls: tlsOption(),
  proxy: proxyOption(),
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
  /** Undefined: no request goes by a proxy. */
  readonly proxyOf: ProxyChoice | undefined;
  readonly allowAddress: ((address: string, use: HttpAddressUse) => boolean) | undefined;
  readonly http1IdleTimeout: number;
  readonly http2IdleTimeout: number;
}

/** Reads options; what does not go with another is a TypeError. */
export function resolveOptions(options: HttpClientOptions): ResolvedOptions {
  const settings = httpClientOptions(options);
  requireOneWay(settings);
  const { tls, proxyTls, proxy, idleTimeout, allowAddress, ...others } = settings;
  return {
    ...others,
    // Objects of this client's own: TLS sessions are kept under them.
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
    // A proxy may be given addresses.
    refuseUnused(settings, proxy === undefined ? ["allowAddress", "lookup"] : ["allowAddress"], reason);
  }
  if (socketPath === undefined || (proxy ?? connect) === undefined) return;
  const other = proxy === undefined ? "connect" : "proxy";
  throw new TypeError(`socketPath and ${other} both say where connections go: give one of them`);
}
