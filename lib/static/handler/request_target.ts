const SLASH = 47;

/** The scheme and authority of a target in absolute-form. Sticky: the end of the match is told without an object. */
const ORIGIN = /[a-z][a-z0-9+.-]*:\/\/[^/?#]*/iy;

/** The characters that make a target more than a plain path. Most targets have none: 20 ns, a loop takes 75. */
const SPECIAL = /[?#%\\\0]/;
const QUERY_OR_FRAGMENT = /[?#]/;

/** An encoded character that would be a separator to some file system once decoded. */
const ENCODED_SEPARATOR = /%(2f|5c)/gi;

/**
 * The path of a request target, decoded, without its query: of `/a%20b?c` and of `http://host/a%20b?c` it is `/a b`.
 * Slashes that were encoded, and all backslashes, are `%2F` and `%5C` in it, and so never taken for separators.
 *
 * @param target In origin-form or absolute-form; a fragment, which no client should send, is dropped.
 * @returns `undefined` if it is in another form or malformed: not percent-encoded UTF-8, or with a NUL.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-7.1}
 */
export function decodeTarget(target: string): string | undefined {
  const start = pathStart(target);
  if (start === undefined) return undefined;
  const rest = start === 0 ? target : target.slice(start);
  if (!SPECIAL.test(rest)) return rest || "/";
  const end = rest.search(QUERY_OR_FRAGMENT);
  const path = end === -1 ? rest : rest.slice(0, end);
  return SPECIAL.test(path) ? decoded(path) : path || "/";
}

/** The path of a request target as it is, without its origin and query; empty if it has none. */
export function rawPath(target: string): string {
  const rest = target.slice(pathStart(target) ?? 0);
  const end = rest.search(QUERY_OR_FRAGMENT);
  return end === -1 ? rest : rest.slice(0, end);
}

function pathStart(target: string): number | undefined {
  if (target.charCodeAt(0) === SLASH) return 0;
  ORIGIN.lastIndex = 0;
  return ORIGIN.test(target) ? ORIGIN.lastIndex : undefined;
}

function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path.replaceAll("\\", "%5C").replace(ENCODED_SEPARATOR, keptEncoded));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Encoded once more, so that decoding leaves it; in capitals, as lower-case digits mean the same. */
function keptEncoded(_: string, digits: string): string {
  return `%25${digits.toUpperCase()}`;
}
