import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectAttempt } from "../connect_attempt.ts";
import { openHttpTunnel } from "./http_tunnel.ts";
import { openSocks5Tunnel } from "./socks5_tunnel.ts";
import type { TunnelTarget } from "./tunnel_target.ts";

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
