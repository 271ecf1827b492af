/**
 * A header block that cannot be decoded. The tables of both sides may differ from here on, so that the connection cannot go on:
 * COMPRESSION_ERROR.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.3}
 */
export class CompressionError extends Error {
  override readonly name: string = "CompressionError";
}

/** Nobody looked at the name yet. */
export const UNKNOWN: number = -1;
/** A name that any value without CR, LF and NUL may follow. */
export const ORDINARY = 0;
/** `:status`. */
const STATUS = 1;
/** `te`: only "trailers" may follow. */
export const TE = 2;
/** A name that no response may have. */
export const FORBIDDEN = 3;

const SPECIAL = new Map([
  [":status", STATUS],
  ["te", TE],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].map((name) => [name, FORBIDDEN]),
] as [string, number][]);

/** The characters of a valid name: RFC 9110's tchar without capitals. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The kind of a field with this name, by the checks it needs. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.2} */
export function kindOfName(name: string): number {
  return SPECIAL.get(name) ?? (TOKEN.test(name) ? ORDINARY : FORBIDDEN);
}

/** The same when the value is known too: {@link FORBIDDEN} if a response must not have it, `clean` if it has no CR, LF and NUL. */
export function kindOfField(kind: number, value: string, clean: boolean): number {
  if (kind === ORDINARY) return clean ? ORDINARY : FORBIDDEN;
  // 101 does not exist in HTTP/2 (RFC 9113 8.6).
  if (kind === STATUS) return /^[1-9][0-9][0-9]$/.test(value) && value !== "101" ? STATUS : FORBIDDEN;
  return kind === TE && value === "trailers" ? ORDINARY : FORBIDDEN;
}

/** The fault of a {@link FORBIDDEN} field, as the end of a sentence about the response. */
export function whyForbidden(name: string, value: string): string {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  if (name === ":status") return `the status ${JSON.stringify(value.slice(0, 20))}, which HTTP/2 does not have`;
  if (name.startsWith(":")) return `the pseudo-header ${shown}, which no response has`;
  if (SPECIAL.has(name)) return `the header ${shown}, which belongs to HTTP/1.1 connections`;
  if (!TOKEN.test(name)) return `a header with the name ${shown}, which is not a token in lower case`;
  return `CR, LF or NUL in the value of the header ${shown}`;
}
