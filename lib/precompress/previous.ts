import { walk, type WalkOptions } from "./walk.ts";

/** A dictionary smaller than this many bytes saves less than its header and its request cost. */
const MIN_DICTIONARY = 1024;

/**
 * The parts of a file name that build tools set to a hash of the content: at least eight letters or digits between
 * `.`, `-` or `_` and the extension or another part, with a digit or mixed case among them, or exactly eight of those
 * that esbuild uses. A word that passes for one does no harm: files of the same path are taken first.
 */
const HASH = new RegExp(
  "(?<=[.\\-_])(?:(?=[\\w-]*\\d|[\\w-]*[A-Z][\\w-]*[a-z]|[\\w-]*[a-z][\\w-]*[A-Z])[A-Za-z0-9_-]{8,64}|[A-Z2-7]{8})" +
    "(?=\\.[^/]*$)",
);

/** `path` with the hash part of its name replaced by `*`; the path itself if it has none. */
export function withoutHash(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  return path.slice(0, slash) + path.slice(slash).replace(HASH, "*");
}

/** A previous version of a file. */
export interface PreviousFile {
  /** Its path below the previous deploy's folder. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

/** Finds the previous versions of files in the folder of a previous deploy. */
export class PreviousFiles {
  #exact = new Map<string, PreviousFile>();
  #byPattern = new Map<string, PreviousFile[]>();

  private constructor() {}

  /** Lists the files below `root`. */
  static async in(
    root: string,
    options: Pick<WalkOptions, "dotfiles" | "followLinks" | "signal">,
  ): Promise<PreviousFiles> {
    const previous = new PreviousFiles();
    const { files } = await walk(root, { ...options, once: false });
    for (const { path, size } of files) {
      if (size < MIN_DICTIONARY) continue;
      const file = { path, size };
      previous.#exact.set(path, file);
      const pattern = withoutHash(path);
      if (pattern === path) continue;
      const others = previous.#byPattern.get(pattern);
      if (others) others.push(file);
      else previous.#byPattern.set(pattern, [file]);
    }
    return previous;
  }

  /** The previous version of the file at `path`, of `size` bytes: of several, the one nearest in size. */
  of(path: string, size: number): PreviousFile | undefined {
    const candidates = this.#byPattern.get(withoutHash(path)) ?? [];
    const nearest = candidates.toSorted((a, b) => Math.abs(a.size - size) - Math.abs(b.size - size))[0];
    return this.#exact.get(path) ?? nearest;
  }
}
