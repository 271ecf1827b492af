import type { LookupFunction } from "node:net";
import type { HttpTlsOptions } from "../tls_options.ts";

/** Where to connect to. */
export interface ConnectTarget {
  /** Whether TLS is spoken. */
  readonly secure: boolean;
  /** A name or an address, as `URL.hostname` has it. */
  readonly host: string;
  readonly port: number;
}

/** How to connect. */
export interface ConnectOptions {
  /** One object a client: what is made of it (a TLS context, sessions to resume) is kept for it. */
  readonly tls: HttpTlsOptions;
  /** The protocols that ALPN offers, the best first. */
  readonly alpn: readonly string[];
  /** Most milliseconds for look-up, TCP and TLS together; 0: no limit. */
  readonly timeout: number;
  readonly lookup?: LookupFunction | undefined;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal | undefined;
}
