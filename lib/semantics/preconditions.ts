import { parseHTTPDate } from "./http_date.ts";

/**
 * Whether `If-Unmodified-Since` holds, or does not count as it is no date.
 *
 * @param lastModified In ms since 1970.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.4}
 */
export function ifUnmodifiedSinceHolds(field: string, lastModified: number): boolean {
  return wholeSeconds(lastModified) <= (parseHTTPDate(field) ?? Infinity);
}

/**
 * Whether `If-Modified-Since` holds, or does not count as it is no date.
 *
 * @param lastModified In ms since 1970.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.3}
 */
export function ifModifiedSinceHolds(field: string, lastModified: number): boolean {
  return wholeSeconds(lastModified) > (parseHTTPDate(field) ?? -Infinity);
}

/**
 * Whether `If-Range` names the representation: by its strong tag, or by a time of change that is one.
 *
 * @param tag The representation's strong entity tag, with its quotes.
 * @param lastModified In ms since 1970; undefined if a time stands for no particular bytes.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5}
 */
export function ifRangeNames(field: string, tag: string, lastModified: number | undefined): boolean {
  if (field.trimStart().startsWith('"')) return field.trim() === tag;
  return lastModified !== undefined && parseHTTPDate(field) === wholeSeconds(lastModified);
}

/** Drops fractions of a second, which dates of HTTP have none of. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
