import { type Member, text } from "../streams/internal.ts";

/** The names in a list such as that of `Vary`, each once, or `*` if that is among them. */
export function joinedNames(list: string): string {
  const names = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names.includes("*")) return "*";
  const seen = new Set<string>();
  return names.filter((name) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase())).join(", ");
}

/** Whether a character of that code is optional white space (RFC 9110, section 5.6.3). */
export function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

/** The characters that a field's value may not have: controls other than the tab, and all above U+00FF. */
export function trimmed(field: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(field.charCodeAt(start))) start++;
  while (start < end && isSpace(field.charCodeAt(end - 1))) end--;
  return field.slice(start, end);
}

/** The characters that a field's value may not have: controls other than the tab, and all that are no byte. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** An option that is the value of a header field. */
export function fieldValue<D extends string | undefined = undefined>(fallback?: D): Member<string, D> {
  return text(fallback, "the value of a header field", (value) => !NOT_IN_VALUE.test(value));
}

/**
 * Checks a header field's value, of the option or function `origin`: servers refuse an invalid one late, some uncaught.
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
 * Responses that may lack fields of the representation: a part (206), not modified (304), a page in its place (404),
 * none at all (such as 405 or 416), and one that is encoded on its way.
 */
export type AnswerKind = "part" | "unmodified" | "page" | "none" | "encoded";

/** The letters of the table's column. */
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
 * The one table of which responses carry which fields. A name with `*` stands for all that begin so and have no row of
 * their own; a field without a row goes with every response.
 *
 * | letter | goes with |
 * | --- | --- |
 * | p | 206, parts of the representation |
 * | u | 304: not what is about the bytes, nor what tells a cache nothing new beside the tag (RFC 9110, section 15.4.5) |
 * | g | 404, whose page is not the requested representation |
 * | n | responses without a representation |
 * | e | a response that is encoded on its way: not what is of the bytes before |
 * | s | what users may set, where only the handler can know the others |
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
  "use-as-dictionary": "es", // browsers would take a part for the dictionary, in place of a whole one that they have
  "x-content-type*": "pgnes",
};

/** The rows for all names that begin so, the longest first. */
const beginnings = Object.keys(table).filter((name) => name.endsWith("*")).sort((a, b) => b.length - a.length);

/** The uses of the fields that were looked up, by their names as they were given. */
const known = new Map<string, string>();
/** Users give few names; but a program may make them. */
const MAX_CACHED_NAMES = 1000;

/** Whether users may set a field of a static response, in place of the handler's value. */
export function goesWith(name: string, kind: AnswerKind): boolean {
  return usesOf(name).includes(letters[kind]);
}

/** Whether users may set a field of a static response, in place of what the handler would say. */
export function isSettable(name: string): boolean {
  return usesOf(name).includes(SETTABLE);
}

/** Lists the fields that do not go with a response of that kind, in lower case. */
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
