import { type HttpClientOptions, httpClientOptions } from "./http_client_options.ts";
import { type ProxyChoice, readProxyOption } from "./proxy/proxy_option.ts";
import type { HttpTlsOptions } from "./tls_options.ts";

type Settings = ReturnType<typeof httpClientOptions>;

/** Options with their defaults. */
export interface ResolvedOptions extends Omit<Settings, "tls" | "proxyTls" | "proxy" | "idleTimeout"> {
  readonly tls: HttpTlsOptions;
  readonly proxyTls: HttpTlsOptions;
  /** Undefined: no request goes by a proxy. */
  readonly proxyOf: ProxyChoice | undefined;
  readonly http1IdleTimeout: number;
  readonly http2IdleTimeout: number;
}

/**
 * Reads options.
 *
 * @throws {TypeError} if one has the wrong type, or does not go with another.
 * @throws {RangeError} if a number is out of range.
 */
export function resolveOptions(options: HttpClientOptions): ResolvedOptions {
  const settings = httpClientOptions(options);
  requireOneWay(settings);
  const { tls, proxyTls, proxy, idleTimeout, ...others } = settings;
  return {
    ...others,
    // Objects of this client's own: TLS sessions are kept under them.
    tls: tls ?? {},
    proxyTls: proxyTls ?? {},
    proxyOf: proxy === undefined ? undefined : readProxyOption(proxy),
    http1IdleTimeout: idleTimeout ?? 4_000,
    http2IdleTimeout: idleTimeout ?? 60_000,
  };
}

function requireOneWay({ socketPath, proxy, connect }: Settings): void {
  if (socketPath === undefined || (proxy ?? connect) === undefined) return;
  const other = proxy === undefined ? "connect" : "proxy";
  throw new TypeError(`socketPath and ${other} both say where connections go: give one of them`);
}
