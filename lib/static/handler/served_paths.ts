import type { Settings } from "../answer/settings.ts";

const SLASH = 47;

/** The scheme and authority of a target in absolute-form. Sticky: `lastIndex` is the end, without a match object. */
const ORIGIN = /[a-z][a-z0-9+.-]*:\/\/[^/?#]*/iy;

/** The characters that make a target more than a plain path. Most targets have none: the test takes 20 ns, a loop 75. */
const SPECIAL = /[?#%\\\0]/;
const QUERY_OR_FRAGMENT = /[?#]/;

/** An encoded character that some file systems would treat as a separator after decoding. */
const ENCODED_SEPARATOR = /%(2f|5c)/gi;

/**
 * Decodes the path of a request target in origin-form or absolute-form (RFC 9110, section 7.1), without query and
 * fragment. Encoded slashes and all backslashes stay `%2F` and `%5C`, so that they never act as separators. Undefined
 * if it is in another form or malformed: not percent-encoded UTF-8, or with a NUL.
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

/** Returns the path of a request target unchanged, without origin and query; empty if it has none. */
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
    // Encoded twice, so that decoding keeps them; in upper case, since lower-case digits mean the same.
    const kept = path.replaceAll("\\", "%5C").replace(ENCODED_SEPARATOR, (_, digits) => `%25${digits.toUpperCase()}`);
    const text = decodeURIComponent(kept);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A redirect from one path to another, relative to the first, so that it works behind any prefix. */
export interface Redirect {
  readonly status: 301 | 308;
  readonly location: string;
  /** The file that the redirect leads to, below the folder. */
  readonly file: string;
}

type PathSettings = Pick<Settings, "basePath" | "index" | "cleanUrls">;
type Has = (file: string) => boolean;

const HTML = ".html";

/** Returns the path at which a file is served: an index file at its folder, and with clean URLs a page without its extension. */
export function servedPathOf(file: string, settings: PathSettings, has: Has): string {
  // A target can contain a backslash only in this encoding, so that it is no separator.
  const own = settings.basePath + file.replaceAll("\\", "%5C");
  if (isIndex(file, settings)) return own.slice(0, -settings.index!.length);
  return isPage(file, settings, has) ? own.slice(0, -HTML.length) : own;
}

/** Returns the file that is served at the decoded `path`. */
export function fileServedAt(path: string, settings: PathSettings, has: Has): string | undefined {
  for (const name of namesOf(path, settings)) {
    const index = name === "" || name.endsWith("/") ? name + settings.index : undefined;
    const page = index === undefined ? name + HTML : undefined;
    if (index !== undefined && settings.index !== undefined && has(index)) return index;
    if (page !== undefined && isPage(page, settings, has) && !isIndex(page, settings) && has(page)) return page;
    if (!isIndex(name, settings) && !isPage(name, settings, has) && has(name)) return name;
  }
  return undefined;
}

/** Returns the answer for a `path` at which no file is served: a file that is also served there, or a redirect. */
export function otherAnswerAt(path: string, settings: PathSettings, has: Has): string | Redirect | undefined {
  for (const name of namesOf(path, settings)) {
    if (!has(name)) continue;
    return isPage(name, settings, has) ? redirect(308, "./", lastPart(servedPathOf(name, settings, has)), name) : name;
  }
  const { index } = settings;
  const isIn = (folder: string): boolean => index !== undefined && has(folder + index);
  const folder = namesOf(`${path}/`, settings).find(isIn);
  if (folder !== undefined) return redirect(301, "./", `${lastPart(path)}/`, folder + index);
  return toPage(path, settings, has);
}

/** Redirects from a page's path with a slash, and from an index's path without extension: a page has one URL. */
function toPage(path: string, settings: PathSettings, has: Has): Redirect | undefined {
  if (!settings.cleanUrls) return undefined;
  const hasSlash = path.endsWith("/");
  const name = hasSlash ? path.slice(0, -1) : path;
  const page = namesOf(name, settings).map((each) => each + HTML).find((each) =>
    isPage(each, settings, has) && has(each)
  );
  if (page === undefined) return undefined;
  return redirect(308, hasSlash ? "../" : "./", lastPart(servedPathOf(page, settings, has)), page);
}

/** Returns the file names below the folder that `path` may mean: only a name with a backslash has a second form. */
export function namesOf(path: string, { basePath }: PathSettings): string[] {
  if (!path.startsWith(basePath)) return [];
  const name = path.slice(basePath.length);
  return name.includes("%5C") ? [name, name.replaceAll("%5C", "\\")] : [name];
}

function isIndex(file: string, { index }: PathSettings): boolean {
  return index !== undefined && file.endsWith(index) &&
    (file.length === index.length || file.at(-index.length - 1) === "/");
}

/** Whether a file is served without its extension: `app.js.html` beside `app.js` keeps its own name. */
function isPage(file: string, { cleanUrls }: PathSettings, has: Has): boolean {
  if (!cleanUrls || !file.endsWith(HTML)) return false;
  const name = file.slice(0, -HTML.length);
  return name !== "" && !name.endsWith("/") && !has(name);
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Makes a redirect. `./` keeps a part before a colon from being taken for a scheme. */
function redirect(status: 301 | 308, folder: "./" | "../", name: string, file: string): Redirect {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll("%2F", "/").replaceAll("%255C", "%5C");
  return { status, location: folder + encoded, file };
}
