import type { HeaderList } from "../connection.ts";

/** A response that violates HTTP/1.1 or exceeds this client's limits. The connection converts it to an HttpError. */
export class ResponseFault extends Error {
  readonly code: "PROTOCOL_ERROR" | "LIMIT_EXCEEDED";

  /** The message follows the origin's name and a colon. */
  constructor(code: "PROTOCOL_ERROR" | "LIMIT_EXCEEDED", message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the error for bytes that are not HTTP/1.1; its message shows the first of them. */
export function malformed(what: string, found: string): ResponseFault {
  const quoted = found.length > 60 ? `${found.slice(0, 60)}…` : found;
  return new ResponseFault("PROTOCOL_ERROR", `${what}: ${JSON.stringify(quoted)}`);
}

const LF = 10;
const CR = 13;
const FIRST_SIZE = 1024;
const PROTOCOL = "HTTP/1.";

/** Finds the CRLF CRLF that ends a header section. @returns the position after it, or -1. */
export function findSectionEnd(bytes: Uint8Array, from: number, to: number): number {
  // Any byte but CR and LF rules out an end among the next four: about 40 checks for a usual head.
  let at = from + 3;
  while (at < to) {
    const byte = bytes[at];
    if (byte === LF) {
      if (bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR) return at + 1;
      at += 2;
    } else if (byte === CR) {
      at += 1;
    } else {
      at += 4;
    }
  }
  return -1;
}

export class HeaderSection {
  readonly #limit: number;
  readonly #of: number;
  readonly #what: string;
  bytes: Uint8Array = new Uint8Array(FIRST_SIZE);
  length = 0;

  /** @param of The whole limit, for errors, if other sections have used a part of it. */
  constructor(what: string, limit: number, of: number = limit) {
    this.#what = what;
    this.#limit = limit;
    this.#of = of;
  }

  /** Adds bytes up to the section's end. @returns the position behind it, or -1. @throws {ResponseFault} if it is too long. */
  add(chunk: Uint8Array, at: number): number {
    const before = this.length;
    const taken = Math.min(chunk.length - at, this.#limit - before + 1);
    if (before + taken > this.bytes.length) {
      const larger = new Uint8Array(Math.max(before + taken, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, before));
      this.bytes = larger;
    }
    this.bytes.set(chunk.subarray(at, at + taken), before);
    this.length = before + taken;
    const end = findSectionEnd(this.bytes, Math.max(0, before - 3), this.length);
    if (end > this.#limit || (end < 0 && this.length > this.#limit)) throw tooLarge(this.#what, this.#of);
    // Otherwise the client would wait for a peer that ends lines differently.
    this.#rejectBareLineFeed(before, end < 0 ? this.length : end);
    if (end < 0) return -1;
    this.length = end;
    return at + end - before;
  }

  /** Checks that the section begins like a response's head, as far as it has arrived. @throws {ResponseFault} if not. */
  rejectOtherProtocol(): void {
    const { bytes, length } = this;
    let at = 0;
    while (at < length && at < PROTOCOL.length && bytes[at] === PROTOCOL.charCodeAt(at)) at++;
    if (at === length || at === PROTOCOL.length) return;
    const found = new TextDecoder("latin1").decode(bytes.subarray(0, Math.min(length, 60)));
    throw malformed("the answer is not HTTP/1.1", found);
  }

  #rejectBareLineFeed(from: number, to: number): void {
    const { bytes } = this;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== LF || bytes[at - 1] === CR) continue;
      const text = new TextDecoder("latin1").decode(bytes.subarray(0, at + 1));
      throw malformed(`a line of the ${this.#what} ends without CR`, text.slice(-60));
    }
  }
}

export function tooLarge(what: string, limit: number): ResponseFault {
  return new ResponseFault("LIMIT_EXCEEDED", `the ${what} is larger than ${limit} bytes: see maxHeaderSize`);
}

const USUAL =
  ("accept-ranges access-control-allow-credentials access-control-allow-headers access-control-allow-methods " +
    "access-control-allow-origin access-control-expose-headers access-control-max-age age allow alt-svc cache-control " +
    "cf-cache-status cf-ray connection content-disposition content-encoding content-language content-length " +
    "content-location content-range content-security-policy content-type cross-origin-opener-policy " +
    "cross-origin-resource-policy date expires keep-alive last-modified link location permissions-policy pragma " +
    "proxy-authenticate referrer-policy retry-after server server-timing set-cookie strict-transport-security trailer " +
    "transfer-encoding upgrade vary via www-authenticate x-cache x-content-type-options x-frame-options x-powered-by " +
    "x-request-id x-xss-protection").split(" ");

/** Lower-case names by their usual spellings: twice as fast as toLowerCase(). It never grows by names that servers invent. */
const LOWER = new Map<string, string>();
for (const name of USUAL) LOWER.set(name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()), name);
for (const name of ["ETag", "Etag", "WWW-Authenticate", "X-XSS-Protection", "CF-Cache-Status", "CF-RAY"]) {
  LOWER.set(name, name.toLowerCase());
}

const TAB = 9;
const SPACE = 32;
const COLON = 58;

const TOKEN = 1;
const UPPER_CASE = 2;

/** By byte: 0 if a field name cannot contain it, otherwise TOKEN, with UPPER_CASE for A to Z (RFC 9110 section 5.6.2). */
const NAME_BYTES = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") NAME_BYTES[char.charCodeAt(0)] = TOKEN;
for (let byte = 65; byte <= 90; byte++) NAME_BYTES[byte] = TOKEN | UPPER_CASE;

/** By byte: 1 if a field value may contain it: tab, space, visible characters, obs-text (RFC 9110 section 5.5). */
const VALUE_BYTES = new Uint8Array(256).fill(1, SPACE);
VALUE_BYTES[TAB] = 1;
VALUE_BYTES[127] = 0;

// Each run of white space is matched once, at its start: without the look-behind, long runs take quadratic time.
const FOLDS = /(?<![ \t])[ \t]*(?:\r\n[ \t]+)+/g;
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/**
 * Reads the field lines of a head or of trailers from `at` to `end`, each with its CRLF.
 *
 * Strict where peers could disagree on a field's end: no white space before the colon, no bare CR or LF, no NUL. A value that continues in the next line (obs-fold) gets
 * a space instead of the line break.
 * @param text The same bytes, from `base` on, as latin1. The strings are parts of it: decoding once is faster.
 * @throws {ResponseFault} if a line is malformed.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-5}
 */
export function readFieldLines(bytes: Uint8Array, at: number, end: number, text: string, base: number): HeaderList {
  const fields: HeaderList = [];
  while (at < end) {
    const nameStart = at;
    let kinds = 0;
    for (let kind = NAME_BYTES[bytes[at]]; kind !== 0; kind = NAME_BYTES[bytes[++at]]) kinds |= kind;
    if (bytes[at] !== COLON || at === nameStart) throw malformedLine("a field name", text, nameStart - base);
    const name = text.slice(nameStart - base, at - base);
    do at++; while (isSpace(bytes[at]));
    const valueStart = at;
    at = skipValue(bytes, at, text, nameStart - base);
    let valueEnd = at;
    let value: string | undefined;
    if (at + 2 < end && isSpace(bytes[at + 2])) {
      do at = skipValue(bytes, at + 2, text, nameStart - base); while (at + 2 < end && isSpace(bytes[at + 2]));
      value = text.slice(valueStart - base, at - base).replace(FOLDS, " ").replace(OUTER_SPACE, "");
    } else {
      while (valueEnd > valueStart && isSpace(bytes[valueEnd - 1])) valueEnd--;
      value = text.slice(valueStart - base, valueEnd - base);
    }
    fields.push((kinds & UPPER_CASE) === 0 ? name : LOWER.get(name) ?? name.toLowerCase(), value);
    at += 2;
  }
  return fields;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** Skips to the CRLF, which must end the value. */
function skipValue(bytes: Uint8Array, at: number, text: string, line: number): number {
  while (VALUE_BYTES[bytes[at]] === 1) at++;
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw malformedLine("a field value", text, line);
  return at;
}

function malformedLine(what: string, text: string, start: number): Error {
  const end = text.indexOf("\r\n", start);
  return malformed(`the response has ${what} that is malformed`, text.slice(start, end < 0 ? undefined : end));
}
