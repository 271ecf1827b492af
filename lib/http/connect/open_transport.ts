import { connect as connectTo, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectTarget, Transport } from "../connection.ts";
import { ConnectAttempt } from "./connect_attempt.ts";
import { type ConnectOptions, originOf, originPeer, type Peer, type ProxyHop, proxyPeer } from "./connect_options.ts";
import { dialByFunction, type DialTarget, dialTcp, tcpOptions } from "./dial.ts";
import { secure, type TlsBase } from "./tls_handshake.ts";
import { SocketTransport } from "./socket_transport.ts";
import { openTunnel } from "./tunnel.ts";

/**
 * Connects to a server in steps: dials a socket, opens a tunnel through a proxy, and negotiates TLS.
 * @returns the connection, on which only these steps have sent bytes. Attach to it in the same turn.
 * @throws {HttpError} for a failed look-up, connection, proxy or TLS handshake, or a timeout.
 * @throws the signal's reason.
 */
export function openTransport(target: ConnectTarget, options: ConnectOptions): Promise<Transport> {
  if (options.signal?.aborted) return Promise.reject(options.signal.reason);
  const attempt = new ConnectAttempt(originOf(target), options);
  const way = new Way(target, options, attempt);
  return attempt.run(async () => (await Promise.all([way.go(), options.load?.()]))[0]);
}

/** The times for each of several addresses, in ms, after a first round with the runtime's default. */
const LONGER = [2000, 8000];

class Way {
  readonly #target: ConnectTarget;
  readonly #options: ConnectOptions;
  readonly #attempt: ConnectAttempt;
  readonly #peer: Peer;
  readonly #lookup: LookupFunction | undefined;
  #bottom: Duplex | undefined = undefined;

  constructor(target: ConnectTarget, options: ConnectOptions, attempt: ConnectAttempt) {
    this.#target = target;
    this.#options = options;
    this.#attempt = attempt;
    const { socketPath, lookup, allowed } = options;
    this.#lookup = allowed?.lookup(lookup) ?? lookup;
    const peer = originPeer(attempt.origin);
    this.#peer = socketPath === undefined ? peer : { ...peer, place: `the Unix socket ${socketPath}` };
  }

  async go(): Promise<Transport> {
    for (const ms of this.#options.connect ? [] : LONGER) {
      try {
        return await this.#go();
      } catch (error) {
        // An address that was given up early while others failed may be slow, or the process was blocked.
        const { errors } = Object((error as Error | undefined)?.cause) as { errors?: NodeJS.ErrnoException[] };
        if (!errors?.some(({ code }) => code === "ETIMEDOUT")) throw error;
        this.#attempt.patience = ms;
      }
    }
    return await this.#go();
  }

  async #go(): Promise<Transport> {
    const { tls, alpn, connect, socketPath, allowed, via } = this.#options;
    allowed?.checkHost(!via?.proxy.resolves);
    const { secure: isSecure, host, port } = this.#target;
    const isForeign = connect !== undefined;
    if (!isSecure) {
      const socket = await this.#lead();
      return new SocketTransport(socket, { bottom: this.#bottom ?? socket, isForeign });
    }
    const reach = async (): Promise<TlsBase> =>
      via ?? socketPath ?? connect
        ? { socket: await this.#lead() }
        : tcpOptions({ ...this.#target, peer: this.#peer }, this.#lookup, this.#attempt);
    const secured = await secure(reach, { host, port, peer: this.#peer, alpn }, tls, this.#attempt);
    return new SocketTransport(secured.socket, { bottom: this.#bottom ?? secured.socket, tls: secured, isForeign });
  }

  /** Returns a stream to the target, or to a proxy that takes its requests. */
  async #lead(): Promise<Duplex> {
    const { via } = this.#options;
    if (via !== undefined) return await this.#leadBy(via);
    return await this.#dial({ ...this.#target, peer: this.#peer }, this.#lookup);
  }

  async #leadBy({ proxy, tls, tunnels, serverSpeaksFirst, maxHeaderSize }: ProxyHop): Promise<Duplex> {
    const { host, port } = proxy;
    const peer = proxyPeer(this.#attempt.origin, proxy);
    const dial = (): Promise<Duplex> => this.#dial({ host, port, peer }, this.#options.lookup);
    const reach = async (): Promise<{ socket: Duplex }> => ({ socket: await dial() });
    const socket = proxy.secure
      ? (await secure(reach, { host, port, peer, alpn: ["http/1.1"] }, tls, this.#attempt)).socket
      : (await reach()).socket;
    if (!tunnels) return socket;
    const target = { ...this.#target, proxy, peer, maxHeaderSize, serverSpeaksFirst };
    await openTunnel(socket, target, this.#lookup, this.#attempt);
    return socket;
  }

  async #dial(target: DialTarget, lookup: LookupFunction | undefined): Promise<Duplex> {
    const { socketPath, connect } = this.#options;
    const socket = connect !== undefined
      ? await dialByFunction(connect, target, this.#attempt)
      : socketPath !== undefined
      ? await dialByFunction(() => connectTo({ path: socketPath }), target, this.#attempt, "the Unix socket")
      : await dialTcp(target, lookup, this.#attempt);
    this.#bottom ??= socket;
    return socket;
  }
}
