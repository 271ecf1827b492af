import type { HeaderList } from "../exchange.ts";
import { lowerCaseName } from "./field_names.ts";
import { malformed } from "./response_fault.ts";

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;

const TOKEN = 1;
const UPPER_CASE = 2;

/** By byte: 0 for what cannot stand in a field name, TOKEN for what can, with UPPER_CASE for A to Z (RFC 9110 section 5.6.2). */
const NAME_BYTES = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") NAME_BYTES[char.charCodeAt(0)] = TOKEN;
for (let byte = 65; byte <= 90; byte++) NAME_BYTES[byte] = TOKEN | UPPER_CASE;

/** By byte: 1 for what may stand in a field value: tab, space, visible characters, obs-text (RFC 9110 section 5.5). */
const VALUE_BYTES = new Uint8Array(256).fill(1, SPACE);
VALUE_BYTES[TAB] = 1;
VALUE_BYTES[127] = 0;

// A run of white space is looked at once, where it begins: without the first parts, long runs take quadratic time.
const FOLDS = /(?<![ \t])[ \t]*\r\n[ \t]+/g;
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/**
 * Reads field lines: all of those of a head or of trailers, each with its CRLF.
 *
 * Strict where peers could disagree on where a field ends: no white space before the colon, no bare CR or LF, no NUL. A value
 * that goes on in the next line (obs-fold) gets a space for the line break.
 *
 * @param bytes The buffer that holds the lines.
 * @param at The offset of the first line.
 * @param end The offset behind the last line's CRLF.
 * @param text The same bytes as latin1, of which the strings are parts: decoding once is faster than once a string.
 * @param base The offset in `bytes` at which the text begins.
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
    at = skipSpace(bytes, at + 1);
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
    fields.push((kinds & UPPER_CASE) === 0 ? name : lowerCaseName(name), value);
    at += 2;
  }
  return fields;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function skipSpace(bytes: Uint8Array, at: number): number {
  while (isSpace(bytes[at])) at++;
  return at;
}

/** To the CRLF, which must be what ends the value. */
function skipValue(bytes: Uint8Array, at: number, text: string, line: number): number {
  while (VALUE_BYTES[bytes[at]] === 1) at++;
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw malformedLine("a field value", text, line);
  return at;
}

function malformedLine(what: string, text: string, start: number): Error {
  const end = text.indexOf("\r\n", start);
  return malformed(`the response has ${what} that is malformed`, text.slice(start, end < 0 ? undefined : end));
}
