import { isIP } from "node:net";
import type { ConnectTarget } from "./connect_options.ts";

/** A server in words, for errors: an origin's, or its proxy. */
export interface Peer {
  /** The origin that the connection is for. */
  readonly origin: string;
  /** The server as the subject of a sentence. */
  readonly name: string;
  /** Its host and port in words. */
  readonly place: string;
  /** Its host. */
  readonly host: string;
  /** The option that says how TLS is spoken with it. */
  readonly tlsOption: "tls" | "proxyTls";
}

/** Gives the serialization of a target's origin. */
export function originOf({ secure, host, port }: ConnectTarget): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}${port === (secure ? 443 : 80) ? "" : `:${port}`}`;
}

/** Describes an origin's server. */
export function originPeer(origin: string): Peer {
  const { hostname, port, protocol } = new URL(origin);
  const place = `${hostname}, port ${port || (protocol === "https:" ? 443 : 80)}`;
  return { origin, name: origin, place, host: hostname, tlsOption: "tls" };
}

/** Describes what listens on a Unix socket. */
export function socketPeer(origin: string, path: string): Peer {
  return { ...originPeer(origin), place: `the Unix socket ${path}` };
}

/** Describes a proxy, without its credentials. */
export function proxyPeer(
  origin: string,
  proxy: { readonly url: string; readonly host: string; readonly port: number },
): Peer {
  const { url, host, port } = proxy;
  return { origin, name: `the proxy ${url}`, place: `the proxy ${host}, port ${port}`, host, tlsOption: "proxyTls" };
}
