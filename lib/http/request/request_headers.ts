import type { HeaderList } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { HttpRequestInit } from "../http_request.ts";
import { cookiesOf } from "../../runtime/mod.ts";
import { hasMembers } from "../../streams/internal.ts";
import { hasField } from "../response/response_headers.ts";
import type { RequestTarget } from "./request_target.ts";

/** HTTP white space (https://fetch.spec.whatwg.org/#http-whitespace). Each run is matched once, in linear time. */
const OUTER_SPACE = /^[ \t\n\r]+|(?<![ \t\n\r])[ \t\n\r]+$/g;

/** Checked names in lower case, by the given spelling. */
const known = new Map<string, string>();
const MAX_CACHED_NAMES = 1024;
const OF_CONNECTIONS: ReadonlySet<string> = new Set(["keep-alive", "proxy-connection", "upgrade", "http2-settings"]);

/** The fields of requests without any of their own, by whether bodies are decoded; the last place stays empty, for others. */
const shared: (HeaderList | undefined)[] = [undefined, undefined, undefined];

export class HeaderReader {
  readonly list: HeaderList = [];
  contentLength: number | undefined = undefined;
  /** Whether `connection` demands the connection's end after the response. */
  closes = false;
  expectsContinue = false;
  #cookieAt = -1;
  #connection = "";
  readonly #target: RequestTarget | undefined;

  constructor(target: RequestTarget | undefined) {
    this.#target = target;
  }

  /** @throws {HttpError} INVALID_HEADER if a field cannot be sent. */
  readAll(init: NonNullable<HttpRequestInit["headers"]>): void {
    eachField(init, (name, value) => this.#read(name, value));
    if (this.#cookieAt >= 0) this.list[this.#cookieAt] = cookiesOf(init) ?? this.list[this.#cookieAt];
    if (this.#connection !== "") this.#dropNamed(this.#connection);
  }

  /** Returns the fields to send. Requests without any of their own share a list, which is frozen: connections need not encode it again. */
  withDefaults(contentType: string | undefined, decompress: boolean): HeaderList {
    const { list } = this;
    const place = list.length > 0 || contentType !== undefined || this.expectsContinue ? 2 : Number(decompress);
    if (shared[place] !== undefined) return shared[place];
    if (this.expectsContinue) list.push("expect", "100-continue");
    if (contentType !== undefined && !hasField(list, "content-type")) list.push("content-type", contentType);
    if (!hasField(list, "accept")) list.push("accept", "*/*");
    if (!hasField(list, "accept-encoding")) {
      // A part of an encoded body cannot be decoded: https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch
      if (hasField(list, "range")) list.push("accept-encoding", "identity");
      else if (decompress) list.push("accept-encoding", "zstd, br, gzip");
    }
    if (!hasField(list, "user-agent")) list.push("user-agent", "millrace");
    return place === 2 ? list : shared[place] = Object.freeze(list) as HeaderList;
  }

  #read(givenName: string, givenValue: string): void {
    const name = checkedName(givenName);
    const value = checkedValue(name, givenValue);
    switch (name) {
      case "host":
        return this.#readHost(value);
      case "content-length":
        return this.#readLength(value);
      case "connection":
        return void (this.#connection += `,${value}`);
      case "cookie": // of which HTTP/1.1 allows one field: https://www.rfc-editor.org/rfc/rfc9113#section-8.2.3
        if (this.#cookieAt >= 0) this.list[this.#cookieAt] += `; ${value}`;
        else this.#cookieAt = this.list.push("cookie", value) - 1;
        return;
      case "expect": // of which one value is defined: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
        if (value.toLowerCase() === "100-continue") this.expectsContinue = true;
        else this.list.push(name, value);
        return;
      case "transfer-encoding": // connections frame the body: no other coding is applied, or undone, on the way
        if (value.toLowerCase() === "chunked") return;
        throw unsendable(name, value, ": leave it out, and use content-encoding");
      case "te":
        // HTTP/2 has no other value (RFC 9113 section 8.2.2), and this client undoes none of HTTP/1.1's codings.
        if (/(?:^|,)\s*trailers\s*(?:,|$)/i.test(value) && !hasField(this.list, name)) this.list.push(name, "trailers");
        return;
      default:
        if (!OF_CONNECTIONS.has(name)) this.list.push(name, value);
    }
  }

  /** Checks `host`: connections send the authority of the URL. */
  #readHost(value: string): void {
    if (this.#target === undefined) return;
    const { authority, scheme } = this.#target;
    const host = value.toLowerCase();
    if (host === authority || host === `${authority}:${scheme === "https" ? 443 : 80}`) return;
    throw unsendable("host", value, ` where the URL has ${authority}: leave it out`);
  }

  #readLength(value: string): void {
    const length = /^[0-9]{1,15}$/.test(value) ? Number(value) : -1;
    if (length < 0 || (this.contentLength !== undefined && this.contentLength !== length)) {
      throw unsendable("content-length", value, ": leave it out, or use the body's length in bytes");
    }
    this.contentLength = length;
  }

  /** Removes the fields that Connection names, which end at the next hop: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
  #dropNamed(connection: string): void {
    const names = new Set(connection.toLowerCase().split(",").map((name) => name.trim()));
    this.closes = names.has("close");
    const { list } = this;
    for (let at = list.length - 2; at >= 0; at -= 2) {
      if (names.has(list[at])) list.splice(at, 2);
    }
  }
}

/** Calls `take` with each field, unchecked. @throws {HttpError} INVALID_HEADER if one is not a pair; without its value, which may be secret. */
export function eachField(init: HttpRequestInit["headers"], take: (name: string, value: string) => void): void {
  if (hasMembers(init)) return Object.keys(init).forEach((name) => take(name, init[name] as string));
  if (typeof init !== "object" || init === null || !(Symbol.iterator in init)) {
    throw new HttpError("INVALID_HEADER", "The headers must be an object of names and values, or pairs of them");
  }
  for (const pair of init) {
    const [name, value, ...more] = Object(pair) === pair && Symbol.iterator in pair ? pair : [];
    if (name === undefined || value === undefined || more.length > 0) {
      throw new HttpError("INVALID_HEADER", "Each header must be a pair of name and value");
    }
    take(name, value);
  }
}

/** Returns a field's name as it is sent. @throws {HttpError} INVALID_HEADER if the name is invalid. */
export function checkedName(given: string): string {
  return known.get(given) ?? newName(given);
}

function newName(given: string): string {
  const text = `${given}`;
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)) {
    const message = `The header name ${JSON.stringify(text)} is no token: use letters, digits and hyphens`;
    throw new HttpError("INVALID_HEADER", message);
  }
  if (known.size >= MAX_CACHED_NAMES) known.clear();
  const name = text.toLowerCase();
  known.set(text, name);
  return name;
}

/** Returns a field's value as it is sent. @throws {HttpError} INVALID_HEADER if it is invalid. */
export function checkedValue(name: string, given: string): string {
  const value = typeof given === "string" ? given : String(given);
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  const trimmed = value.replace(OUTER_SPACE, "");
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) return trimmed;
  const [wrong] = /[^\t\x20-\x7e\x80-\xff]/.exec(trimmed)!;
  throw unsendable(name, wrong, " or hold it: use latin1 without control characters");
}

function unsendable(name: string, value: string, advice: string): HttpError {
  return new HttpError("INVALID_HEADER", `The header ${name} cannot be ${JSON.stringify(value)}${advice}`);
}
