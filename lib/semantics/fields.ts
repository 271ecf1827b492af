import { type Member, text } from "../streams/internal.ts";

/** Returns the names in a list such as `Vary`, each once, or `*` if that is among them. */
export function joinedNames(list: string): string {
  const names = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names.includes("*")) return "*";
  const seen = new Set<string>();
  return names.filter((name) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase())).join(", ");
}

/** Whether a character code is optional white space (RFC 9110, section 5.6.3). */
export function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

/** Returns a part of a field without optional white space around it. */
export function trimmed(field: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(field.charCodeAt(start))) start++;
  while (start < end && isSpace(field.charCodeAt(end - 1))) end--;
  return field.slice(start, end);
}

/** Characters that are invalid in a field's value: controls except the tab, and all above U+00FF. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns a schema member for the value of a header field. */
export function fieldValue<D extends string | undefined = undefined>(fallback?: D): Member<string, D> {
  return text(fallback, "the value of a header field", (value) => !NOT_IN_VALUE.test(value));
}

/**
 * Checks a header field's value from the option or function `origin`: servers refuse an invalid one late, some with an
 * uncaught error.
 * @throws {TypeError} if the value is not valid.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-5.5}
 */
export function requireFieldValue(origin: string, value: string): void {
  if (typeof value === "string" && !NOT_IN_VALUE.test(value)) return;
  throw new TypeError(
    `${origin} gives ${JSON.stringify(value)}, which is no value of a header field: use printable text`,
  );
}

/**
 * The kinds of responses that may lack fields of the representation: a part (206), not modified (304), a page instead
 * of it (404), none at all (such as 405 or 416), and one that is encoded while it is sent.
 */
export type AnswerKind = "part" | "unmodified" | "page" | "none" | "encoded";

/** The letters in the table, by kind. */
const letters: Readonly<Record<AnswerKind, string>> = {
  part: "p",
  unmodified: "u",
  page: "g",
  none: "n",
  encoded: "e",
};
const SETTABLE = "s";
const EVERYTHING = "pugnes";

/**
 * The table of which responses have which fields. A name with `*` matches all names with that beginning and no row of
 * their own; a field without a row is in every response.
 *
 * | letter | responses that have the field |
 * | --- | --- |
 * | p | 206, which contains parts of the representation |
 * | u | 304: fields that describe the bytes, or that add nothing to the tag for a cache, are left out (RFC 9110,
 * section 15.4.5) |
 * | g | 404, whose page is not the requested representation |
 * | n | responses without a representation |
 * | e | a response that is encoded on its way: fields that describe the unencoded bytes are left out |
 * | s | responses of a handler that computes the other fields: users may set this one |
 */
const table: Readonly<Record<string, string>> = {
  "accept-ranges": "p",
  "cache-control": "pues",
  connection: "pugne",
  "content-*": "pges",
  "content-digest": "pgs",
  "content-encoding": "pge",
  "content-length": "pg",
  "content-location": "puges",
  "content-md5": "pgs",
  "content-range": "pge",
  "content-security-policy*": EVERYTHING,
  digest: "pugns",
  etag: "pue",
  expires: "puges",
  "last-modified": "pes",
  "repr-digest": "ps",
  "transfer-encoding": "pugne",
  "use-as-dictionary": "es", // browsers would replace a complete dictionary by the part
  "x-content-type*": "pgnes",
};

/** The rows that match by beginning, the longest first. */
const beginnings = Object.keys(table).filter((name) => name.endsWith("*")).sort((a, b) => b.length - a.length);

/** The letters of the looked-up fields, by their names as given. */
const known = new Map<string, string>();
/** The maximum number of cached names: users set few, but a program may generate them. */
const MAX_CACHED_NAMES = 1000;

/** Whether a response of a kind may have a field of the representation. */
export function goesWith(name: string, kind: AnswerKind): boolean {
  return usesOf(name).includes(letters[kind]);
}

/** Whether users may set a field of a static response, instead of the handler's value. */
export function isSettable(name: string): boolean {
  return usesOf(name).includes(SETTABLE);
}

/** Lists the fields that responses of a kind lack, in lower case. */
export function namesNotWith(kind: AnswerKind): string[] {
  return Object.keys(table).filter((name) => !table[name].includes(letters[kind]));
}

function usesOf(name: string): string {
  const uses = known.get(name);
  if (uses !== undefined) return uses;
  const lower = name.toLowerCase();
  const row = Object.hasOwn(table, lower) ? lower : beginnings.find((each) => lower.startsWith(each.slice(0, -1)));
  const found = row === undefined ? EVERYTHING : table[row];
  if (known.size < MAX_CACHED_NAMES) known.set(name, found);
  return found;
}
