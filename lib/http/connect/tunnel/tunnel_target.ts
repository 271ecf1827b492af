import type { ProxyServer } from "../../proxy/proxy_server.ts";
import type { Peer } from "../peer.ts";

/** A server that a proxy is to connect to. */
export interface TunnelTarget {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyServer;
  /** The proxy in words. */
  readonly peer: Peer;
  /** Most bytes of the proxy's answer. */
  readonly maxHeaderSize: number;
  /** Whether the server may send bytes before the client does, as one of HTTP/2 may that is spoken to without TLS. */
  readonly serverSpeaksFirst: boolean;
}
