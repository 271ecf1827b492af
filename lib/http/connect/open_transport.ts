import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { HttpError } from "../http_error.ts";
import type { Transport } from "../transport.ts";
import type { ConnectOptions, ConnectTarget } from "./connect_options.ts";
import { toConnectionError } from "./connection_error.ts";
import { SocketTransport } from "./socket_transport.ts";
import { TlsContext } from "./tls_context.ts";

/**
 * Connects to a server.
 *
 * @returns the connection, on which nothing was sent yet but the TLS handshake. Attach to it in the same turn.
 * @throws {HttpError} that says what failed: the look-up of the name, the connection, TLS, or the time they took.
 * @throws the signal's reason.
 */
export function openTransport(target: ConnectTarget, options: ConnectOptions): Promise<Transport> {
  const { signal, timeout } = options;
  const origin = originOf(target);
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let socket: Socket;
    try {
      socket = target.secure ? openTls(target, options) : connectTcp(tcpOptions(target, options));
    } catch (error) { // options that TLS cannot use, a port that is none
      reject(toConnectionError(error, origin));
      return;
    }
    let stage = isIP(bare(target.host)) === 0 ? "looking its name up" : "connecting";
    const timer = timeout > 0 ? setTimeout(() => fail(timedOut(origin, timeout, stage)), timeout) : undefined;
    const onAbort = (): void => fail(signal?.reason);
    const settled = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.off("lookup", onLookup).off("connect", onConnect).off("secureConnect", onReady);
      socket.off("error", onError).off("close", onClose);
    };
    const fail = (reason: unknown): void => {
      settled();
      socket.on("error", () => {}); // whatever it says now, it has no listener anymore
      socket.destroy();
      reject(reason);
    };
    const onError = (error: Error): void => fail(toConnectionError(error, origin));
    const onClose = (): void => fail(toConnectionError(undefined, origin));
    const onLookup = (): void => {
      stage = "connecting";
    };
    const onConnect = (): void => {
      stage = "the TLS handshake";
      if (!target.secure) onReady();
    };
    const onReady = (): void => {
      settled();
      resolve(transportOf(socket, target, options));
    };
    signal?.addEventListener("abort", onAbort);
    socket.on("lookup", onLookup).on("connect", onConnect).on("secureConnect", onReady);
    socket.on("error", onError).on("close", onClose);
  });
}

/** Without the brackets that a URL has around an IPv6 address. */
function bare(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

function originOf({ secure, host, port }: ConnectTarget): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}${port === (secure ? 443 : 80) ? "" : `:${port}`}`;
}

function timedOut(origin: string, timeout: number, stage: string): HttpError {
  const message = `no connection to ${origin} within ${timeout} ms: ${stage} took too long; see connectTimeout`;
  return new HttpError("CONNECT_TIMEOUT", message, { origin });
}

function tcpOptions({ host, port }: ConnectTarget, { lookup }: ConnectOptions): TcpNetConnectOpts {
  return { host: bare(host), port, noDelay: true, autoSelectFamily: true, ...(lookup && { lookup }) };
}

function openTls(target: ConnectTarget, options: ConnectOptions): TLSSocket {
  const { tls } = options;
  const context = TlsContext.of(tls);
  const host = bare(target.host);
  const servername = tls.servername ?? (isIP(host) === 0 ? host.replace(/\.$/, "") : "");
  const server = `${host}:${target.port}`;
  const settings: ConnectionOptions = {
    ...tcpOptions(target, options),
    secureContext: context.secureContext,
    servername,
    ALPNProtocols: [...options.alpn],
    rejectUnauthorized: tls.rejectUnauthorized !== false,
  };
  if (tls.checkServerIdentity) settings.checkServerIdentity = tls.checkServerIdentity;
  const session = context.session(server);
  if (session) settings.session = session as Buffer;
  const socket = connectTls(settings);
  socket.on("session", (session) => context.keep(server, session));
  socket.once("close", (failed: boolean) => {
    if (failed) context.forget(server);
  });
  return socket;
}

function transportOf(socket: Socket, target: ConnectTarget, { tls }: ConnectOptions): Transport {
  const secure = target.secure ? socket as TLSSocket : undefined;
  return new SocketTransport(socket, secure, secure?.authorized === true && tls.rejectUnauthorized !== false);
}
