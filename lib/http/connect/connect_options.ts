import { isIP, type LookupFunction } from "node:net";
import type { ConnectTarget } from "../connection.ts";
import type { HttpConnectFunction } from "../http_client_options.ts";
import type { ProxyServer } from "../proxy/proxy_server.ts";
import type { HttpTlsOptions } from "../tls_options.ts";
import type { AllowedAddresses } from "./allowed_addresses.ts";

export interface ConnectOptions {
  /** The client's TLS options: always the same object, since its TLS context and resumable sessions are cached under it. */
  readonly tls: HttpTlsOptions;
  readonly alpn: readonly string[];
  /** The maximum duration in ms of look-up, TCP, proxy and TLS together; 0: no limit. */
  readonly timeout: number;
  readonly lookup?: LookupFunction | undefined;
  /** The allowed addresses of the target; default: any. */
  readonly allowed?: AllowedAddresses | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Loads the modules that an open connection needs, in parallel with the other steps. */
  readonly load?: (() => Promise<void>) | undefined;
  readonly via?: ProxyHop | undefined;
  /** A Unix socket to connect to instead of the target's host and port. */
  readonly socketPath?: string | undefined;
  readonly connect?: HttpConnectFunction | undefined;
}

export interface ProxyHop {
  readonly proxy: ProxyServer;
  /** The {@link ConnectOptions.tls} of an `https:` proxy. */
  readonly tls: HttpTlsOptions;
  /** Whether the proxy opens a tunnel to the target; otherwise it gets the requests themselves. */
  readonly tunnels: boolean;
  /** Whether the server may send bytes before the first request, as in HTTP/2 without TLS. */
  readonly serverSpeaksFirst: boolean;
  readonly maxHeaderSize: number;
}

export interface Peer {
  readonly origin: string;
  /** The server as the subject of a sentence. */
  readonly name: string;
  readonly place: string;
  readonly host: string;
  /** The option with the TLS settings for this peer. */
  readonly tlsOption: "tls" | "proxyTls";
}

export function originOf({ secure, host, port }: ConnectTarget): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}${port === (secure ? 443 : 80) ? "" : `:${port}`}`;
}

export function originPeer(origin: string): Peer {
  const { hostname, port, protocol } = new URL(origin);
  const place = `${hostname}, port ${port || (protocol === "https:" ? 443 : 80)}`;
  return { origin, name: origin, place, host: hostname, tlsOption: "tls" };
}

/** Describes a proxy without its credentials. */
export function proxyPeer(origin: string, { url, host, port }: ProxyServer): Peer {
  return { origin, name: `the proxy ${url}`, place: `the proxy ${host}, port ${port}`, host, tlsOption: "proxyTls" };
}
