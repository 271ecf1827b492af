import { Buffer } from "node:buffer";
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { HeaderSection, readFieldLines, ResponseFault } from "../h1/header_section.ts";
import { latin1, readStatusLine } from "../h1/response_head.ts";
import { HttpError, type HttpErrorCode } from "../http_error.ts";
import { ipv6Bytes } from "./allowed_addresses.ts";
import { type ConnectAttempt, socketEvent } from "./connect_attempt.ts";
import { originPeer, type Peer, type ProxyHop } from "./connect_options.ts";
import { type DialTarget, resolved } from "./dial.ts";
import { toConnectionError } from "./connection_error.ts";

interface TunnelTarget extends DialTarget, Pick<ProxyHop, "proxy" | "maxHeaderSize" | "serverSpeaksFirst"> {}

/** A proxy's response before the tunnel begins, read piece by piece from a stream without other readers. */
class ProxyAnswer {
  readonly #socket: Duplex;
  readonly #peer: Peer;
  /** The bytes received from the socket but not consumed yet. */
  rest: Uint8Array = new Uint8Array(0);

  constructor(socket: Duplex, peer: Peer) {
    this.#socket = socket;
    this.#peer = peer;
  }

  /** Takes `length` bytes, or without it all that are available, at least one. @throws {HttpError} if the connection ends before. */
  async bytes(length?: number): Promise<Uint8Array> {
    while (this.rest.length < (length ?? 1)) this.rest = Buffer.concat([this.rest, await this.#receive()]);
    const taken = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(taken.length);
    return taken;
  }

  /** Ends the reading, and leaves the bytes of a server that speaks first. @throws {HttpError} if the proxy has sent more. */
  end(serverSpeaksFirst: boolean): void {
    if (this.rest.length > 0) this.#socket.unshift(this.rest);
    if (serverSpeaksFirst || this.#socket.read() === null) return;
    throw failedBy(this.#peer, "PROTOCOL_ERROR", "it sent bytes after its answer, before anything was asked");
  }

  async #receive(): Promise<Uint8Array> {
    const socket = this.#socket;
    while (true) {
      const chunk: Uint8Array | null = socket.read();
      if (chunk !== null) return chunk;
      if (socket.readableEnded) throw this.#cut();
      try {
        await socketEvent(socket, "readable", "end");
      } catch (error) {
        throw error === undefined ? this.#cut() : toConnectionError(error, this.#peer);
      }
    }
  }

  #cut(): HttpError {
    return failedBy(this.#peer, "CONNECTION_LOST", "it closed the connection instead of an answer, or within it");
  }
}

function failedBy({ origin, place }: Peer, code: HttpErrorCode, what: string, cause?: unknown): HttpError {
  return new HttpError(code, `Cannot connect by ${place}: ${what}`, { origin, cause });
}

/** Asks an HTTP proxy to connect to a server (CONNECT). @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6} */
async function openHttpTunnel(socket: Duplex, target: TunnelTarget): Promise<void> {
  const { host, port, proxy, peer, serverSpeaksFirst } = target;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { authorization } = proxy;
  const credentials = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
  const answer = new ProxyAnswer(socket, peer);
  socket.write(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n${credentials}\r\n`);
  let status: number;
  let reason: string;
  try {
    ({ status, reason } = await readFinalHead(answer, target));
  } catch (error) {
    throw error instanceof ResponseFault ? failedBy(peer, error.code, error.message, error) : error;
  }
  if (status >= 200 && status < 300) return answer.end(serverSpeaksFirst);
  throw refusal(status, reason, place, target);
}

/** Reads heads up to that of the final response; their fields are not used, but must be well-formed. */
async function readFinalHead(
  answer: ProxyAnswer,
  { maxHeaderSize }: TunnelTarget,
): Promise<{ status: number; reason: string }> {
  let left = maxHeaderSize;
  while (true) {
    const section = new HeaderSection("proxy's answer", left, maxHeaderSize);
    let after = -1;
    while (after < 0) {
      const chunk = await answer.bytes();
      after = section.add(chunk, 0);
      section.rejectOtherProtocol();
      if (after >= 0) answer.rest = chunk.subarray(after);
    }
    const { bytes, length } = section;
    const text = latin1(bytes, 0, length);
    const { status, statusText, end } = readStatusLine(text);
    readFieldLines(bytes, end, length - 2, text, 0);
    if (status >= 200) return { status, reason: statusText };
    if (status === 101) throw new ResponseFault("PROTOCOL_ERROR", "it switched protocols (101) unasked");
    left -= length;
  }
}

function refusal(status: number, reason: string, place: string, { proxy, peer }: TunnelTarget): HttpError {
  const said = reason === "" ? String(status) : `${status} ${reason.slice(0, 100)}`;
  // Tinyproxy responds with 401 to wrong credentials.
  if (status !== 407 && status !== 401) {
    const message = `Cannot connect to ${place}: ${peer.place} answered ${said} to CONNECT`;
    return new HttpError("PROXY_REFUSED", message, { origin: peer.origin });
  }
  const advice = proxy.authorization === undefined
    ? "it asks for a user name and password: put them into the proxy's URL"
    : "it does not take the user name and password of the proxy's URL (only Basic authentication is known here)";
  return failedBy(peer, "PROXY_AUTHENTICATION", `${advice} (${said})`);
}

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const PASSWORD = 2;
const NOTHING_ACCEPTABLE = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

const reasons: readonly string[] = [
  "",
  "it failed",
  "its rules do not allow that",
  "the network cannot be reached",
  "the host cannot be reached",
  "the connection was refused",
  "it took too long",
  "it does not know the command",
  "it does not know this kind of address",
];

/** Asks a SOCKS5 proxy to connect to a server. @throws {HttpError} if it does not. @see {@link https://www.rfc-editor.org/rfc/rfc1928} */
async function openSocks5Tunnel(
  socket: Duplex,
  target: TunnelTarget,
  lookup: LookupFunction | undefined,
): Promise<void> {
  const { proxy, host, port, serverSpeaksFirst } = target;
  const address = proxy.resolves
    ? host
    : await resolved(host, originPeer(target.peer.origin), lookup ?? systemLookup as LookupFunction);
  const answer = new ProxyAnswer(socket, target.peer);
  await authenticate(socket, answer, target);
  socket.write(Buffer.from([VERSION, CONNECT, 0, ...addressBytes(address, target), port >> 8, port & 0xff]));
  const [version, reply] = await answer.bytes(2);
  if (version !== VERSION) throw noSocks(version, target);
  if (reply !== 0) {
    const reason = reasons[reply] ?? `for reason ${reply}`;
    throw failed("PROXY_REFUSED", target, `did not connect to ${host}, port ${port}: ${reason}`);
  }
  const [, kind] = await answer.bytes(2);
  // The proxy's outgoing address, which is not needed.
  if (kind === IPV4) await answer.bytes(4 + 2);
  else if (kind === IPV6) await answer.bytes(16 + 2);
  else if (kind === NAME) await answer.bytes((await answer.bytes(1))[0] + 2);
  else throw failed("PROTOCOL_ERROR", target, `answered with an address of kind ${kind}, which SOCKS5 does not have`);
  answer.end(serverSpeaksFirst);
}

async function authenticate(socket: Duplex, answer: ProxyAnswer, target: TunnelTarget): Promise<void> {
  const { credentials } = target.proxy;
  const methods = credentials === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, PASSWORD];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await answer.bytes(2);
  if (version !== VERSION) throw noSocks(version, target);
  if (method === NO_AUTHENTICATION) return;
  if (method === NOTHING_ACCEPTABLE || (method === PASSWORD && credentials === undefined)) {
    const advice = credentials === undefined
      ? "asks for a user name and password, or for more: put them into the proxy's URL"
      : "takes no user name and password, and asks for another authentication";
    throw failed("PROXY_AUTHENTICATION", target, advice);
  }
  if (method !== PASSWORD || credentials === undefined) {
    throw failed("PROTOCOL_ERROR", target, `chose an authentication that was not offered (${method})`);
  }
  // https://www.rfc-editor.org/rfc/rfc1929
  const { user, password } = credentials;
  socket.write(Buffer.from([1, user.length, ...user, password.length, ...password]));
  const [, status] = await answer.bytes(2);
  if (status !== 0) throw failed("PROXY_AUTHENTICATION", target, "does not take the user name and password of its URL");
}

function addressBytes(address: string, target: TunnelTarget): number[] {
  const family = isIP(address);
  if (family === 4) return [IPV4, ...address.split(".").map(Number)];
  if (family === 6) return [IPV6, ...ipv6Bytes(address)];
  const name = Buffer.from(address.replace(/\.$/, ""), "latin1");
  if (name.length <= 255) return [NAME, name.length, ...name];
  throw failed("DNS_FAILED", target, "cannot be asked for a name of more than 255 bytes");
}

function noSocks(first: number, target: TunnelTarget): HttpError {
  const hint = first === 0x48 ? "; is it an http: proxy?" : "";
  return failed("PROTOCOL_ERROR", target, `does not speak SOCKS5: its answer begins with the byte ${first}${hint}`);
}

function failed(code: HttpErrorCode, { peer: { origin, place } }: TunnelTarget, what: string): HttpError {
  return new HttpError(code, `Cannot connect to ${origin}: ${place}, ${what}`, { origin });
}

/** Makes a proxy connect to a server: bytes sent on the socket afterwards reach that server. @throws {HttpError} if the proxy does not. */
export function openTunnel(
  socket: Duplex,
  target: TunnelTarget,
  lookup: LookupFunction | undefined,
  attempt: ConnectAttempt,
): Promise<void> {
  attempt.stage = "the proxy's answer";
  return target.proxy.protocol === "http" ? openHttpTunnel(socket, target) : openSocks5Tunnel(socket, target, lookup);
}
