import { Buffer } from "node:buffer";
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { HttpError, type HttpErrorCode } from "../../http_error.ts";
import { toConnectionError } from "../connection_error.ts";
import { originPeer } from "../peer.ts";
import type { TunnelTarget } from "./tunnel_target.ts";
import { ProxyAnswer } from "./proxy_answer.ts";

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const PASSWORD = 2;
const NOTHING_ACCEPTABLE = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

/** The reasons that a reply may have, by their number. */
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

/**
 * Asks a SOCKS5 proxy to connect to a server.
 *
 * @throws {HttpError} if it does not.
 * @see {@link https://www.rfc-editor.org/rfc/rfc1928}
 */
export async function openSocks5Tunnel(
  socket: Duplex,
  target: TunnelTarget,
  lookup: LookupFunction | undefined,
): Promise<void> {
  const { proxy, host, port, serverSpeaksFirst } = target;
  const address = proxy.resolves ? host : await resolved(target, lookup ?? systemLookup);
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
  // The address that the proxy connects from, which nobody needs.
  if (kind === IPV4) await answer.bytes(4 + 2);
  else if (kind === IPV6) await answer.bytes(16 + 2);
  else if (kind === NAME) await answer.bytes((await answer.bytes(1))[0] + 2);
  else {throw failed(
      "PROTOCOL_ERROR",
      target,
      `answered with an address of the kind ${kind}, which SOCKS5 does not have`,
    );}
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

/** The 16 bytes of an address, of which the parser of URLs makes hexadecimal groups whatever its form was. */
function ipv6Bytes(address: string): number[] {
  const groups = (part: string): number[] =>
    part === "" ? [] : part.split(":").flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]);
  const [head, tail = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const start = groups(head);
  const end = groups(tail);
  return [...start, ...new Array<number>(16 - start.length - end.length).fill(0), ...end];
}

/** The address of the target as this machine resolves it: one of IPv4 if there is one, which any proxy can connect to. */
function resolved({ host, peer: { origin } }: TunnelTarget, lookup: LookupFunction): Promise<string> {
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      const said = error instanceof Error ? error.message : String(error);
      const known = toConnectionError(error, originPeer(origin));
      const message = `Cannot look up the name ${host} of ${origin}: ${said}`;
      reject(known.code === "DNS_FAILED" ? known : new HttpError("DNS_FAILED", message, { origin, cause: error }));
    };
    try {
      lookup(host, { all: true }, (error, found) => {
        if (error) return fail(error);
        const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
        const address = addresses.find((address) => isIP(address) === 4) ?? addresses[0];
        if (address === undefined || isIP(address) === 0) return fail(new Error("it has no address"));
        resolve(address);
      });
    } catch (error) {
      fail(error);
    }
  });
}

function noSocks(first: number, target: TunnelTarget): HttpError {
  const hint = first === 0x48 ? "; is it an http: proxy?" : "";
  return failed("PROTOCOL_ERROR", target, `does not speak SOCKS5: its answer begins with the byte ${first}${hint}`);
}

function failed(code: HttpErrorCode, { peer: { origin, place } }: TunnelTarget, what: string): HttpError {
  return new HttpError(code, `Cannot connect to ${origin}: ${place}, ${what}`, { origin });
}
