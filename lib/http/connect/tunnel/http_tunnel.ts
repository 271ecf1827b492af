import type { Duplex } from "node:stream";
import { HeaderSection } from "../../h1/header_section.ts";
import { readFieldLines } from "../../h1/field_lines.ts";
import { ResponseFault } from "../../h1/response_fault.ts";
import { latin1, readStatusLine } from "../../h1/response_head.ts";
import { HttpError } from "../../http_error.ts";
import type { TunnelTarget } from "./tunnel_target.ts";
import { ProxyAnswer } from "./proxy_answer.ts";

/**
 * Asks an HTTP proxy to connect to a server (CONNECT).
 *
 * @throws {HttpError} if it does not.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6}
 */
export async function openHttpTunnel(socket: Duplex, target: TunnelTarget): Promise<void> {
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
    if (!(error instanceof ResponseFault)) throw error;
    const message = `Cannot connect by ${peer.place}: ${error.message}`;
    throw new HttpError(error.code, message, { origin: peer.origin, cause: error });
  }
  if (status >= 200 && status < 300) return answer.end(serverSpeaksFirst);
  throw refusal(status, reason, place, target);
}

/** Reads heads up to that of the final response; its fields, which are of no meaning, have to be well-formed. */
async function readFinalHead(
  answer: ProxyAnswer,
  { maxHeaderSize }: TunnelTarget,
): Promise<{ status: number; reason: string }> {
  let left = maxHeaderSize;
  while (true) {
    const section = new HeaderSection("proxy's answer", left, maxHeaderSize);
    let after = -1;
    while (after < 0) {
      const chunk = await answer.more();
      after = section.add(chunk, 0);
      section.rejectOtherProtocol();
      if (after >= 0) answer.putBack(chunk.subarray(after));
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
  const { origin } = peer;
  const said = reason === "" ? String(status) : `${status} ${reason.slice(0, 100)}`;
  // Tinyproxy answers 401 to credentials that are wrong.
  if (status !== 407 && status !== 401) {
    const message = `Cannot connect to ${place}: ${peer.place} answered ${said} to CONNECT`;
    return new HttpError("PROXY_REFUSED", message, { origin });
  }
  const advice = proxy.authorization === undefined
    ? "it asks for a user name and password: put them into the proxy's URL"
    : "it does not take the user name and password of the proxy's URL (only Basic authentication is known here)";
  return new HttpError("PROXY_AUTHENTICATION", `Cannot connect by ${peer.place}: ${advice} (${said})`, { origin });
}
