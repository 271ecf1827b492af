import type { HpackDecoder } from "./hpack/decoder.ts";
import type { HeaderList } from "../exchange.ts";
import type { Http2Stream } from "./http2_stream.ts";

const INVALID = -2;

/**
 * Takes the head of a response, final or informational, and tells the handler.
 *
 * @param decoder Has just decoded `headers`, and has the status.
 * @returns What is wrong with it; empty if nothing is.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.1}
 */
export function takeHead(stream: Http2Stream, decoder: HpackDecoder, headers: HeaderList, endsStream: boolean): string {
  const { status } = decoder;
  if (status < 200) {
    if (endsStream) return `a response of status ${status} ended the stream`;
    stream.handler.onInformational(status, headers);
    return "";
  }
  if (status === 204 || status === 304) stream.isBodiless = true;
  const length = contentLengthOf(headers);
  if (length === INVALID) return `the response's Content-Length is ${contentLengthsOf(headers)}`;
  if (!stream.isBodiless) stream.expected = length;
  if (endsStream && stream.expected > 0) return missing(stream);
  stream.hasHead = true;
  stream.handler.onHead({ status, statusText: "", headers });
  return "";
}

/**
 * Takes bytes of a response's body, before the handler gets them.
 *
 * @returns What is wrong with it; empty if nothing is.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.1.1}
 */
export function countData(stream: Http2Stream, bytes: number, endsStream: boolean): string {
  if (!stream.hasHead) return "DATA came before the response's head";
  if (bytes > 0) {
    if (stream.isBodiless) return "DATA came for a response that has no body";
    if (stream.expected >= 0) {
      stream.expected -= bytes;
      if (stream.expected < 0) return "the response's body is longer than its Content-Length";
    }
  }
  return endsStream && stream.expected > 0 ? missing(stream) : "";
}

/** Returns the reason why a response must not end now; empty if it may. */
export function checkEnd(stream: Http2Stream): string {
  return stream.expected > 0 ? missing(stream) : "";
}

/** Bytes that Content-Length announces; -1 if it is not there, INVALID if it is no number or two. */
function contentLengthOf(headers: HeaderList): number {
  let found = -1;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== "content-length") continue;
    const value = headers[i + 1];
    const bytes = /^\d{1,15}$/.test(value) ? Number(value) : INVALID;
    if (bytes === INVALID || (found >= 0 && found !== bytes)) return INVALID;
    found = bytes;
  }
  return found;
}

/** All that Content-Length says, for a message. */
function contentLengthsOf(headers: HeaderList): string {
  return JSON.stringify(headers.filter((_, i) => i % 2 === 1 && headers[i - 1] === "content-length").join(", "));
}

function missing(stream: Http2Stream): string {
  return `the response ended ${stream.expected} bytes before its Content-Length`;
}
