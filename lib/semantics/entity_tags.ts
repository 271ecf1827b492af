const TAB = 9;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;

/**
 * Whether `If-Match` holds for a representation: its value is `*` or lists the tag, and both are strong.
 *
 * @param field The field's value, several lines joined with commas. It is not read beyond a malformed member.
 * @param tag The representation's entity tag, with its quotes; undefined if it has none.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.1}
 */
export function ifMatchHolds(field: string, tag: string | undefined): boolean {
  if (tag === undefined) return field.trim() === "*";
  return field === tag ? !isWeak(tag) : lists(field, tag, strongly);
}

/**
 * Whether `If-None-Match` names a representation, so that its condition is false: its value is `*` or lists the tag,
 * be it weak or strong.
 *
 * @param field The field's value, several lines joined with commas. It is not read beyond a malformed member.
 * @param tag The representation's entity tag, with its quotes; undefined if it has none.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2}
 */
export function ifNoneMatchLists(field: string, tag: string | undefined): boolean {
  if (tag === undefined) return field.trim() === "*";
  return field === tag || lists(field, tag, weakly);
}

/** How two tags of the same opaque part compare (RFC 9110, section 8.8.3.2). */
type Comparison = (firstIsWeak: boolean, secondIsWeak: boolean) => boolean;
const strongly: Comparison = (firstIsWeak, secondIsWeak) => !firstIsWeak && !secondIsWeak;
const weakly: Comparison = () => true;

function isWeak(tag: string): boolean {
  return tag.startsWith("W/");
}

function lists(field: string, tag: string, equal: Comparison): boolean {
  const opaque = isWeak(tag) ? tag.slice(2) : tag;
  // Most fields that are not the tag itself name another version's tag only.
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

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Members may be empty (RFC 9110, section 5.6.1.2). */
function isSeparator(code: number): boolean {
  return code === COMMA || isSpace(code);
}
