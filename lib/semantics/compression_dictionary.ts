import { Buffer } from "node:buffer";
import { parseItem } from "./structured_fields.ts";

const HASH_LENGTH = 32;
/** The maximum length of the field; browsers send 46 characters. */
const MAX_FIELD_LENGTH = 512;

/** Parses `Available-Dictionary`, a SHA-256 in base64; undefined if it is malformed (RFC 9842, section 2.2). */
export function availableDictionary(field: string): string | undefined {
  if (field.length > MAX_FIELD_LENGTH) return undefined;
  let hash: Uint8Array | undefined;
  try {
    hash = parseItem(field);
  } catch {
    return undefined;
  }
  return hash?.length === HASH_LENGTH ? Buffer.from(hash.buffer).toString("base64") : undefined;
}

/** Characters that are encoded in the path of a URL: the path percent-encode set of the URL standard, and `\`. */
// deno-lint-ignore no-control-regex
const NOT_IN_PATH = /[\x00-\x20"#<>?\\`{}\x7f-\u{10ffff}]/gu;
/** Characters with a meaning in a URL path's pattern. Braces, backslashes and question marks are encoded before. */
const PATTERN_SYNTAX = /[+*:()]/g;

const MATCH = 'match="';

/**
 * Returns the `Use-As-Dictionary` field of a response, with which clients keep it as a dictionary for the next version.
 * For the decoded path `/js/app.1a2b3c4d.js`, whose `hash` changes with each version, it is `match="/js/app.*.js"`.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9842#section-2.1}
 */
export function useAsDictionary(path: string, hash?: { readonly start: number; readonly end: number }): string {
  const pattern = hash === undefined
    ? literally(path)
    : `${literally(path.slice(0, hash.start))}*${literally(path.slice(hash.end))}`;
  return `${MATCH}${quoted(pattern)}"`;
}

/** Returns a field of {@linkcode useAsDictionary} that is limited to pages that browsers navigate to. */
export function forDocuments(field: string): string {
  return `${field}, match-dest=("document")`;
}

/** Returns the `Use-As-Dictionary` field of a dictionary for all pages below `basePath`, which is decoded and ends in a slash. */
export function siteDictionaryField(basePath: string): string {
  return forDocuments(useAsDictionary(basePath, { start: basePath.length, end: basePath.length }));
}

const RELATION = '>; rel="compression-dictionary"';

/** Returns the `Link` field with which a browser loads the dictionary at a decoded path (RFC 9842, section 3). */
export function linkToDictionary(path: string): string {
  return `<${encodedPath(path.replaceAll("%", "%25"))}${RELATION}`;
}

/** Returns a `Link` field whose final link to a dictionary is changed to a path below the encoded `prefix`. */
export function linkToDictionaryBelow(prefix: string, field: string): string {
  if (!field.endsWith(RELATION)) return field;
  const start = field.lastIndexOf("<") + 1;
  return field.slice(0, start) + prefix + field.slice(start);
}

/** Quotes a pattern as a string, which escapes its backslashes (RFC 9651, section 3.3.3). */
function quoted(pattern: string): string {
  return pattern.replaceAll("\\", "\\\\");
}

/** Returns a field of {@linkcode useAsDictionary} whose paths are moved below the encoded `prefix`, without a slash at its end. */
export function useAsDictionaryBelow(prefix: string, field: string): string {
  return field.replace(MATCH, (match) => match + quoted(encodedLiterally(prefix)));
}

/** Returns a pattern (https://urlpattern.spec.whatwg.org/) that matches only the decoded `text`. */
function literally(text: string): string {
  return encodedLiterally(text.replaceAll("%", "%25"));
}

/** Escapes encoded text, whose `%` are kept. */
function encodedLiterally(text: string): string {
  return encodedPath(text)
    // A colon must be in a group: a parser that looks for the end of a scheme finds it even if it is escaped.
    .replace(PATTERN_SYNTAX, (character) => character === ":" ? "{\\:}" : `\\${character}`);
}

/** Encodes `text` for the path of a URL; `%` is kept. */
function encodedPath(text: string): string {
  return text.toWellFormed().replace(NOT_IN_PATH, (character) => encodeURIComponent(character));
}

/** The fields that determine whether a script of another origin may read a response; absent ones are null or undefined. */
export interface CrossOriginFields {
  /** The request's `Sec-Fetch-Site`. */
  readonly site: string | null | undefined;
  readonly mode: string | null | undefined;
  readonly origin: string | null | undefined;
  /** The response's `Access-Control-Allow-Origin`. */
  readonly allowOrigin: string | null | undefined;
}

/** Whether a page may read a response: its size with a dictionary would reveal the content (RFC 9842, 9.3.3). */
export function mayUseDictionary({ site, mode, origin, allowOrigin }: CrossOriginFields): boolean {
  if (isAbsent(site) || site === "same-origin") return true;
  if (isAbsent(mode) || mode === "navigate" || mode === "same-origin") return true;
  if (mode !== "cors" || isAbsent(allowOrigin) || isAbsent(origin)) return false;
  return allowOrigin === "*" || allowOrigin === origin;
}

function isAbsent(field: string | null | undefined): field is null | undefined {
  return field === null || field === undefined;
}
