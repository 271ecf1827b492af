import { Buffer } from "node:buffer";
import type { HeaderList } from "../connection.ts";
import { malformed, readFieldLines, ResponseFault } from "./header_section.ts";

/** {@link ParsedHead.length} of a chunked body. */
export const CHUNKED = -1;
/** {@link ParsedHead.length} of a body that ends with the connection. */
export const UNTIL_CLOSE = -2;

export interface ParsedHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderList;
  /** The body's Content-Length; or CHUNKED, or UNTIL_CLOSE. Responses to HEAD, 204 and 304 have no body in any case. */
  readonly length: number;
  readonly keepsAlive: boolean;
  /** The time in ms that the server keeps the connection, if it said so (`Keep-Alive: timeout`). */
  readonly keepAliveTimeout: number | undefined;
}

const STATUS_LINE = /^HTTP\/1\.(\d) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;

/**
 * Reads a response's head, with its final CRLF CRLF. @throws {ResponseFault} if it is malformed, or the body's end is ambiguous. @see {@link
 * https://www.rfc-editor.org/rfc/rfc9112#section-4}
 */
export function readResponseHead(bytes: Uint8Array, start: number, end: number): ParsedHead {
  const text = latin1(bytes, start, end);
  const { minor, status, statusText, end: lineEnd } = readStatusLine(text);
  const headers = readFieldLines(bytes, start + lineEnd, end - 2, text, start);
  const framing = new Framing(minor);
  for (let i = 0; i < headers.length; i += 2) framing.read(headers[i], headers[i + 1]);
  const length = framing.bodyLength();
  return { status, statusText, headers, length, keepsAlive: framing.keepsAlive(), keepAliveTimeout: framing.timeout };
}

interface StatusLine {
  readonly minor: 0 | 1;
  readonly status: number;
  readonly statusText: string;
  /** The offset behind the line's CRLF. */
  readonly end: number;
}

/** @throws {ResponseFault} if the line is not a status line of HTTP/1. */
export function readStatusLine(text: string): StatusLine {
  const lineEnd = text.indexOf("\r\n");
  const line = text.slice(0, lineEnd);
  const match = STATUS_LINE.exec(line);
  if (match === null) throw malformed("the answer does not begin with a status line of HTTP/1.1", line);
  return { minor: match[1] === "0" ? 0 : 1, status: Number(match[2]), statusText: match[3] ?? "", end: lineEnd + 2 };
}

export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end);
}

/** The fields that determine the body's end, and whether the connection stays open (RFC 9112 sections 6 and 9.3). */
class Framing {
  readonly #minor: number;
  #contentLength: string | undefined = undefined;
  readonly #codings: string[] = [];
  #closes = false;
  #keeps = false;
  timeout: number | undefined = undefined;

  constructor(minor: number) {
    this.#minor = minor;
  }

  read(name: string, value: string): void {
    if (name === "content-length") this.#readContentLength(value);
    else if (name === "transfer-encoding") this.#codings.push(value.toLowerCase());
    else if (name === "connection") {
      const options = value.toLowerCase().split(",").map((option) => option.trim());
      this.#closes ||= options.includes("close");
      this.#keeps ||= options.includes("keep-alive");
    } else if (name === "keep-alive") {
      const match = /(?:^|[,;\s])timeout\s*=\s*"?(\d{1,9})(?!\d)/i.exec(value);
      if (match !== null) this.timeout = 1000 * Number(match[1]);
    }
  }

  bodyLength(): number {
    if (this.#codings.length > 0) {
      if (this.#contentLength !== undefined) {
        throw new ResponseFault("PROTOCOL_ERROR", "the response has both Content-Length and Transfer-Encoding");
      }
      const coding = this.#codings.join(", ");
      if (coding === "chunked") return CHUNKED;
      // RFC 2616's name for no coding; a body without a final chunked coding ends with the connection (RFC 9112 section 6.3).
      if (coding === "identity") return UNTIL_CLOSE;
      throw malformed("the response has a Transfer-Encoding other than chunked", coding);
    }
    return this.#contentLength === undefined ? UNTIL_CLOSE : Number(this.#contentLength);
  }

  keepsAlive(): boolean {
    if (this.#closes) return false;
    // HTTP/1.0 has no Transfer-Encoding: its sender is not trusted with a second message (section 6.1).
    return this.#minor === 1 || (this.#keeps && this.#codings.length === 0);
  }

  #readContentLength(value: string): void {
    // A list of equal values is one value (RFC 9110 section 8.6).
    for (const item of value.includes(",") ? value.split(",") : [value]) {
      const digits = item.trim().replace(/^0+(?=\d)/, "");
      if (!/^\d{1,15}$/.test(digits)) throw malformed("the response has a Content-Length that is no size", value);
      if (this.#contentLength !== undefined && this.#contentLength !== digits) {
        throw malformed("the response has Content-Lengths that differ", `${this.#contentLength}, ${digits}`);
      }
      this.#contentLength = digits;
    }
  }
}
