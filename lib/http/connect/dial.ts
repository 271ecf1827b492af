import type { LookupAddress } from "node:dns";
import { connect, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import type { HttpConnectFunction } from "../http_client_options.ts";
import { HttpError } from "../http_error.ts";
import { type ConnectAttempt, socketEvent } from "./connect_attempt.ts";
import { toConnectionError } from "./connection_error.ts";
import type { Peer } from "./connect_options.ts";
import { claim } from "../../runtime/mod.ts";

/** The address that a connection's first socket connects to. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
  readonly peer: Peer;
}

/** Returns the options of `node:net` and `node:tls` for a TCP connection, whose progress the attempt records. */
export function tcpOptions(
  { host, port, peer }: DialTarget,
  lookup: LookupFunction | undefined,
  attempt: ConnectAttempt,
): TcpNetConnectOpts {
  const toProxy = peer.tlsOption === "proxyTls";
  const tcpStage = toProxy ? "TCP to the proxy" : "TCP";
  attempt.stage = isIP(host) !== 0 ? tcpStage : toProxy ? "the look-up of the proxy's name" : "the look-up of its name";
  const tcp: TcpNetConnectOpts = { host, port, noDelay: true, autoSelectFamily: true };
  if (attempt.patience !== undefined) tcp.autoSelectFamilyAttemptTimeout = attempt.patience;
  if (lookup) tcp.lookup = guarded(lookup, () => attempt.stage = tcpStage);
  return tcp;
}

export function watchLookup(socket: Socket, attempt: ConnectAttempt): void {
  socket.on("lookup", (error) => {
    if (!error) attempt.stage = attempt.stage.includes("proxy") ? "TCP to the proxy" : "TCP";
  });
}

export async function dialTcp(
  target: DialTarget,
  lookup: LookupFunction | undefined,
  attempt: ConnectAttempt,
): Promise<Socket> {
  const socket = attempt.own(connect(tcpOptions(target, lookup, attempt)));
  watchLookup(socket, attempt);
  try {
    await socketEvent(socket, "connect");
    return socket;
  } catch (error) {
    throw dialError(error, target.peer, attempt);
  }
}

/** @throws {HttpError} if the function throws, or does not return an open stream. */
export async function dialByFunction(
  connectBy: HttpConnectFunction,
  { host, port, peer }: DialTarget,
  attempt: ConnectAttempt,
  stage: string = "the connect function",
): Promise<Duplex> {
  attempt.stage = stage;
  const { origin } = peer;
  try {
    const stream = await connectBy({ origin, hostname: host, port }, { signal: attempt.signal });
    if (!isDuplex(stream)) throw new TypeError("the connect function gave no stream of node:stream that is a Duplex");
    // Two connections over one stream would read each other's responses.
    if (!claim(stream)) throw new TypeError("the connect function gave a stream that it gave before");
    attempt.own(stream);
    if (stream.readableObjectMode || stream.readableEncoding) {
      throw new TypeError("the connect function gave a stream whose chunks are no bytes");
    }
    if ((stream as Socket).connecting) await socketEvent(stream, "connect");
    if (stream.destroyed || !stream.readable || !stream.writable) {
      throw stream.errored ?? new Error("the stream of the connect function was closed");
    }
    return stream;
  } catch (error) {
    throw refused(error, peer);
  }
}

export function dialError(error: unknown, peer: Peer, attempt: ConnectAttempt): HttpError {
  return attempt.stage.startsWith("the look-up") ? lookupError(error, peer) : toConnectionError(error, peer);
}

function lookupError(error: unknown, peer: Peer): HttpError {
  const meaning = toConnectionError(error, peer);
  if (meaning.code !== "CONNECTION_LOST") return meaning;
  const { origin, name } = peer;
  // The message of the user's look-up.
  const message = `Cannot look up the name of ${name}: ${error instanceof Error ? error.message : String(error)}`;
  return new HttpError("DNS_FAILED", message, { origin, cause: error });
}

/** Returns an address of a peer that this machine resolves: an IPv4 address if possible, since any proxy can connect to it. */
export function resolved(host: string, peer: Peer, lookup: LookupFunction): Promise<string> {
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) =>
    guarded(lookup, () => {})(host, { all: true }, (error, found) => {
      if (error) return reject(lookupError(error, peer));
      const addresses = (found as LookupAddress[]).map(({ address }) => address);
      const address = addresses.find((address) => isIP(address) === 4) ?? addresses[0] ?? "";
      if (isIP(address) !== 0) return resolve(address);
      reject(lookupError(new Error("it has no address"), peer));
    })
  );
}

/** Returns the error of a connect function or socket file. A user function may throw any value. */
function refused(error: unknown, peer: Peer): HttpError {
  const meaning = toConnectionError(error, peer);
  if (meaning.code !== "CONNECTION_LOST" || error instanceof HttpError) return meaning;
  const { origin, place } = peer;
  const reason = error instanceof Error ? error.message : error === undefined ? "it was closed" : String(error);
  return new HttpError("CONNECTION_REFUSED", `Cannot connect to ${place}: ${reason}`, { origin, cause: error });
}

function isDuplex(value: unknown): value is Duplex {
  const { write, read, on, off, destroy } = Object(value) as Partial<Duplex>;
  return [write, read, on, off, destroy].every((method) => typeof method === "function");
}

/** Wraps the user's look-up, which may call back synchronously, with one address instead of all, throw, or reject. */
function guarded(lookup: LookupFunction, onFound: () => void): LookupFunction {
  return (name, options, callback) => {
    let isAnswered = false;
    const ask = async (): Promise<void> =>
      await lookup(name, options, (error, found, family) => {
        isAnswered = true;
        if (!error) onFound();
        // The sockets request all addresses, and fail with unclear errors if they get one.
        const single = options.all && typeof found === "string" && !error;
        callback(error, single ? [{ address: found, family: family ?? isIP(found) }] : found, family);
      });
    ask().catch((error) => isAnswered || callback(error, "", 0));
  };
}
