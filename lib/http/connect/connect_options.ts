import type { LookupFunction } from "node:net";
import type { HttpConnectFunction } from "../connect_function.ts";
import type { ProxyServer } from "../proxy/proxy_server.ts";
import type { HttpTlsOptions } from "../tls_options.ts";

/** The server to connect to. */
export interface ConnectTarget {
  /** Whether TLS is spoken. */
  readonly secure: boolean;
  /** A name or an address, as `URL.hostname` has it. */
  readonly host: string;
  readonly port: number;
}

/** How to connect. */
export interface ConnectOptions {
  /** The client's TLS options, always the same object: its TLS context and the sessions to resume are cached under it. */
  readonly tls: HttpTlsOptions;
  /** The protocols that ALPN offers, the best first. */
  readonly alpn: readonly string[];
  /** Most milliseconds for all of it: look-up, TCP, the proxy and TLS together; 0: no limit. */
  readonly timeout: number;
  readonly lookup?: LookupFunction | undefined;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
  /** The proxy to connect through. */
  readonly via?: ProxyHop | undefined;
  /** A Unix socket to connect to instead of the target's host and port. */
  readonly socketPath?: string | undefined;
  /** Makes connections in place of `node:net`. */
  readonly connect?: HttpConnectFunction | undefined;
}

/** A proxy on the way to a server. */
export interface ProxyHop {
  readonly proxy: ProxyServer;
  /** As {@link ConnectOptions.tls}, of an `https:` proxy. */
  readonly tls: HttpTlsOptions;
  /** Whether the proxy is asked to connect to the target; else it is sent the requests themselves. */
  readonly tunnels: boolean;
  /** Whether what answers there may send bytes before it is asked, as a server of HTTP/2 without TLS may. */
  readonly serverSpeaksFirst: boolean;
  /** Most bytes of its answer. */
  readonly maxHeaderSize: number;
}
