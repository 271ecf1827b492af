import { openTransport } from "../connect/open_transport.ts";
import type { Connection, ConnectionOwner } from "../exchange.ts";
import { openHttp1Connection } from "../h1/connection.ts";
import { openHttp2Session } from "../h2/session.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import type { Transport } from "../transport.ts";

/** Where an origin's server is. */
export interface Target {
  readonly origin: string;
  readonly secure: boolean;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A connection, and the transport that it has. */
export interface OpenedConnection {
  readonly connection: Connection;
  readonly transport: Transport;
}

/**
 * Opens a connection in whatever protocol the server chooses.
 *
 * @param owner Told what the connection does.
 * @param allowedAtFirst Streams that an h2 session may open before it knows the server's SETTINGS.
 * @param signal Gives the attempt up.
 * @throws {HttpError} if there is no connection.
 */
export async function openConnection(
  target: Target,
  options: ResolvedOptions,
  owner: ConnectionOwner,
  { allowedAtFirst, signal }: { allowedAtFirst: number; signal: AbortSignal },
): Promise<OpenedConnection> {
  const transport = await openTransport(target, {
    tls: options.tls,
    alpn: options.http2 ? ["h2", "http/1.1"] : ["http/1.1"],
    timeout: options.connectTimeout,
    lookup: options.lookup,
    signal,
  });
  const speaksHttp2 = target.secure ? transport.alpnProtocol === "h2" : options.h2c;
  const connection = speaksHttp2
    ? openHttp2Session(transport, http2Options(target, options, allowedAtFirst), owner)
    : openHttp1Connection(transport, http1Options(target, options), owner);
  return { connection, transport };
}

function http2Options(target: Target, options: ResolvedOptions, allowedAtFirst: number): Parameters<
  typeof openHttp2Session
>[1] {
  const { maxConcurrentStreams, streamWindow, maxHeaderSize, pingInterval, pingTimeout } = options;
  return {
    origin: target.origin,
    maxConcurrentStreams,
    streamWindow,
    maxHeaderSize,
    pingInterval,
    pingTimeout,
    idleTimeout: Math.max(1, options.http2IdleTimeout),
    allowedAtFirst,
  };
}

function http1Options(target: Target, options: ResolvedOptions): Parameters<typeof openHttp1Connection>[1] {
  const { pipelining, streamWindow: highWaterMark, maxHeaderSize } = options;
  return { origin: target.origin, pipelining, highWaterMark, maxHeaderSize, idleTimeout: options.http1IdleTimeout };
}
