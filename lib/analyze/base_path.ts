/**
 * The path that a folder was built to be served at, as Vite's `base` says it: the first reference to a file of the folder
 * by a whole path shows it.
 */
export class BasePath {
  readonly #files: ReadonlySet<string>;
  /** The length of the longest of their paths. */
  #longest = 0;
  /** With a slash at its end, without one at its start; undefined until it shows. */
  #path: string | undefined;

  /** @param files The paths of the folder's files. */
  constructor(files: Iterable<string>) {
    this.#files = new Set(files);
    for (const { length } of this.#files) this.#longest = Math.max(this.#longest, length);
  }

  /**
   * Returns the path in the folder of the file that a reference leads to; undefined if there is none.
   *
   * @param pathname Of the URL that it was resolved to.
   * @param isWhole Whether the path was written, or that of the page's `<base>`, rather than where the page is.
   */
  fileAt(pathname: string, isWhole: boolean): string | undefined {
    const path = decoded(pathname)?.slice(1);
    if (path === undefined) return undefined;
    if (this.#files.has(path)) {
      if (isWhole) this.#path ??= "";
      return path;
    }
    if (this.#path !== undefined) {
      const below = path.startsWith(this.#path) ? path.slice(this.#path.length) : "";
      return this.#files.has(below) ? below : undefined;
    }
    if (!isWhole) return undefined;
    const first = path.indexOf("/", path.length - this.#longest - 1); // no path below those before is a file's
    for (let slash = first; slash !== -1; slash = path.indexOf("/", slash + 1)) {
      const below = path.slice(slash + 1);
      if (!this.#files.has(below)) continue;
      this.#path = path.slice(0, slash + 1);
      return below;
    }
    return undefined;
  }
}

/** The text of an encoded path; undefined where its escapes are malformed. */
export function decoded(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}
