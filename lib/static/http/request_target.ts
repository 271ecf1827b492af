const PERCENT = 37;
const HASH = 35;
const SLASH = 47;
const QUESTION_MARK = 63;
const BACKSLASH = 92;

/** The scheme and authority of a target in absolute-form. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** What would be a separator to some file system once decoded. */
const ENCODED_SEPARATOR = /%(?=2f|5c)/gi;

/**
 * The path of a request target, decoded, without its query: of `/a%20b?c` and of `http://host/a%20b?c` it is `/a b`.
 * What stands for a slash or backslash stays encoded, so that it is never taken for one that divides segments.
 *
 * @param target In origin-form or absolute-form; a fragment, which no client should send, is dropped.
 * @returns `undefined` if it is in another form or malformed: not percent-encoded UTF-8, or with a NUL.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-7.1}
 */
export function decodeTarget(target: string): string | undefined {
  if (target.charCodeAt(0) === SLASH) return decodePath(target, 0);
  const origin = ORIGIN.exec(target);
  if (origin === null) return undefined;
  const start = origin[0].length;
  return target.charCodeAt(start) === SLASH ? decodePath(target, start) : "/";
}

function decodePath(target: string, start: number): string | undefined {
  let plain = true;
  let end = start;
  for (; end < target.length; end++) {
    const code = target.charCodeAt(end);
    if (code === QUESTION_MARK || code === HASH) break;
    if (code === 0) return undefined;
    if (code === PERCENT || code === BACKSLASH) plain = false;
  }
  const path = target.slice(start, end);
  return plain ? path : decoded(path);
}

function decoded(path: string): string | undefined {
  try {
    const text = decodeURIComponent(path.replaceAll("\\", "%5C").replace(ENCODED_SEPARATOR, "%25"));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
