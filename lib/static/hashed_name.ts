/** The part of a path that is a hash of the content. */
export interface HashedPart {
  /** Where it begins. */
  readonly start: number;
  /** Where what follows it begins. */
  readonly end: number;
}

/**
 * What build tools set for a hash before the extension: after another part of the name, hexadecimal (webpack, Parcel),
 * eight characters of base64url or base32 (Rollup, Vite, esbuild) or a longer hash in base64url; or all of the name, in
 * hexadecimal.
 */
const CANDIDATE =
  /(?<=[^/][.\-_])(?:[0-9a-f]{8,64}|[A-Za-z0-9_-]{8}|[A-Za-z0-9_-]{20,22})(?=\.[^/]*$)|(?<=^|\/)[0-9a-f]{16,64}(?=\.[^/]*$)/;

/** Where build tools put what they name by hash: there, words of eight letters are rarer than hashes. */
const BUILD_FOLDER = /(?:^|\/)(?:assets|chunks|static|build|_astro|_app|_next)\//;

/** Letters of one kind or digits that follow each other; a word may start with a capital. */
const RUN = /[A-Z]?[a-z]+|[A-Z]+|\d+/g;

/**
 * The part of `path` that is a hash of the content, if there is one.
 *
 * What it says is answered as immutable for a year, so a word (`logo-Vertical.svg`), a date (`20240131`) or a version
 * must not pass for a hash: these change from letters to capitals to digits seldom, hashes every other character. Some
 * hashes look like words: these are revalidated, which costs a 304.
 */
export function hashedPart(path: string): HashedPart | undefined {
  const found = CANDIDATE.exec(path);
  if (!found) return undefined;
  const [text] = found;
  const isBuilt = BUILD_FOLDER.test(path);
  if (isBuilt && /^[A-Z2-7]{8}$/.test(text)) return { start: found.index, end: found.index + text.length };
  const isOfOneCase = /^(?:[0-9a-f]+|[A-Z2-7]+)$/.test(text);
  if (/[-_]/.test(text) && !(/[a-z]/.test(text) && /[A-Z]/.test(text))) return undefined; // a version or words
  const runs = text.match(RUN)?.length ?? 0;
  if (runs <= (isOfOneCase || isBuilt ? 2 : 3)) return undefined;
  return { start: found.index, end: found.index + text.length };
}
