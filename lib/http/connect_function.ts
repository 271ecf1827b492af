import type { Duplex } from "node:stream";

/**
 * The server that a connection is to be made to.
 *
 * @example Log each connection that is made
 * ```ts
 * import { HttpClient, type HttpConnectTarget } from "@millrace/streams/http";
 * import { connect } from "node:net";
 *
 * const log: string[] = [];
 * const dial = ({ hostname, port, origin }: HttpConnectTarget) => {
 *   log.push(origin);
 *   return connect({ host: hostname, port });
 * };
 * const client = new HttpClient({ connect: dial });
 * await (await client.fetch("https://api.example.com/users/1")).text();
 * console.log(log.length); // 1
 * await client.close();
 * ```
 */
export interface HttpConnectTarget {
  /** The origin that the connection is for. */
  readonly origin: string;
  /** The name or address of the origin's server, or of its proxy if there is one; IPv6 addresses without brackets. */
  readonly hostname: string;
  /** Its port. */
  readonly port: number;
}

/**
 * A function that makes connections: byte streams on which the client then speaks TLS, with the proxy, and HTTP.
 *
 * Called for each connection, and once more if a certificate was refused, for the error's message: each time for another stream, of
 * bytes. It may still be connecting, as the socket is that `connect()` of `node:net` returns. `signal` is aborted when the connection is no longer wanted
 * or took longer than `connectTimeout`; a stream that comes after that is destroyed.
 *
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
  target: HttpConnectTarget,
  options: { readonly signal: AbortSignal },
) => Duplex | Promise<Duplex>;
