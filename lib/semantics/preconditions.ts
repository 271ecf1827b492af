import { isSpace } from "./fields.ts";
import { parseHTTPDate } from "./http_date.ts";

const QUOTE = 34;
const COMMA = 44;

/**
 * Whether `If-Match` holds for a representation: its value is `*` or contains the quoted tag, and both are strong. Its
 * lines must be joined with commas; members after a malformed one are ignored.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.1}
 */
export function ifMatchHolds(field: string, tag: string | undefined): boolean {
  if (tag === undefined) return field.trim() === "*";
  return field === tag ? !isWeak(tag) : lists(field, tag, strongly);
}

/** Whether `If-None-Match`, which is false then, is `*` or has the quoted tag, weak or strong (RFC 9110, 13.1.2). */
export function ifNoneMatchLists(field: string, tag: string | undefined): boolean {
  if (tag === undefined) return field.trim() === "*";
  return field === tag || lists(field, tag, weakly);
}

/** A comparison of two tags with the same opaque part (RFC 9110, section 8.8.3.2). */
type Comparison = (firstIsWeak: boolean, secondIsWeak: boolean) => boolean;
const strongly: Comparison = (firstIsWeak, secondIsWeak) => !firstIsWeak && !secondIsWeak;
const weakly: Comparison = () => true;

function isWeak(tag: string): boolean {
  return tag.startsWith("W/");
}

function lists(field: string, tag: string, equal: Comparison): boolean {
  const opaque = isWeak(tag) ? tag.slice(2) : tag;
  // Most fields that are not just the tag contain only another version's tag.
  if (!field.includes(opaque)) return field.trim() === "*";
  for (let at = skip(field, 0, isSeparator); at < field.length; at = skip(field, at, isSeparator)) {
    const weak = field.startsWith("W/", at);
    const start = weak ? at + 2 : at;
    if (field.charCodeAt(start) !== QUOTE) return false;
    const end = field.indexOf('"', start + 1) + 1;
    if (end === 0) return false;
    at = skip(field, end, isSpace);
    if (at < field.length && field.charCodeAt(at) !== COMMA) return false;
    const same = end - start === opaque.length && field.startsWith(opaque, start);
    if (same && equal(weak, isWeak(tag))) return true;
  }
  return false;
}

function skip(field: string, from: number, what: (code: number) => boolean): number {
  let at = from;
  while (at < field.length && what(field.charCodeAt(at))) at++;
  return at;
}

/** Whether a character separates members, which may be empty (RFC 9110, section 5.6.1.2). */
function isSeparator(code: number): boolean {
  return code === COMMA || isSpace(code);
}

/** Whether `If-Unmodified-Since` holds for a time in ms since 1970, or is no date (RFC 9110, 13.1.4). */
export function ifUnmodifiedSinceHolds(field: string, lastModified: number): boolean {
  return wholeSeconds(lastModified) <= (parseHTTPDate(field) ?? Infinity);
}

/** Whether `If-Modified-Since` is true of a time in ms since 1970: it is, too, if its value is no date (RFC 9110, 13.1.3). */
export function ifModifiedSinceHolds(field: string, lastModified: number): boolean {
  return wholeSeconds(lastModified) > (parseHTTPDate(field) ?? -Infinity);
}

/** Whether `If-Range` names the strong tag, or the time of the last change in ms since 1970 (RFC 9110, 13.1.5). */
export function ifRangeNames(field: string, tag: string, lastModified: number | undefined): boolean {
  if (field.trimStart().startsWith('"')) return field.trim() === tag;
  return lastModified !== undefined && parseHTTPDate(field) === wholeSeconds(lastModified);
}

/** Drops fractions of a second, which HTTP dates lack. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
