import { requireKnown } from "../streams/internal.ts";
import { checkTlsOptions } from "./connect/secure/check_tls_options.ts";
import type { HttpClientOptions } from "./http_client_options.ts";
import {
  checkInterceptors,
  checkNumber,
  checkStatuses,
  checkType,
  type NumberOption,
  ranges,
} from "./option_checks.ts";
import { type ProxyChoice, readProxyOption } from "./proxy/proxy_choice.ts";

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

function checkSocketPath({ socketPath, proxy, connect }: HttpClientOptions): void {
  if (socketPath === undefined) return;
  if (typeof socketPath !== "string" || socketPath === "") {
    throw new TypeError(`socketPath must be the path of a Unix socket, not ${JSON.stringify(socketPath)}`);
  }
  if (proxy === undefined && connect === undefined) return;
  throw new TypeError(`socketPath and ${proxy ? "proxy" : "connect"} both say where connections go: give one of them`);
}
