import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import type { ProxyServer } from "../../proxy/proxy_server.ts";
import type { ConnectAttempt } from "../connect_attempt.ts";
import type { Peer } from "../peer.ts";
import { openHttpTunnel } from "./http_tunnel.ts";
import { openSocks5Tunnel } from "./socks5_tunnel.ts";

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

/**
 * Has a proxy connect to a server: what is sent on the socket afterwards goes there.
 *
 * @param socket Connected to the proxy.
 * @throws {HttpError} if the proxy does not connect.
 */
export function openTunnel(
  socket: Duplex,
  target: TunnelTarget,
  lookup: LookupFunction | undefined,
  attempt: ConnectAttempt,
): Promise<void> {
  attempt.stage = "the proxy's answer";
  return target.proxy.protocol === "http" ? openHttpTunnel(socket, target) : openSocks5Tunnel(socket, target, lookup);
}
