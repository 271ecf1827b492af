import { likelyHash } from "../names/mod.ts";
import { walk, type WalkOptions } from "./walk.ts";

/** A dictionary smaller than this many bytes saves less than its header and its request cost. */
const MIN_DICTIONARY = 1024;

/** `path` with the hash part of its name replaced by `*`; the path itself if it has none. */
export function withoutHash(path: string): string {
  // A word that passes for a hash does no harm: files of the same path are taken first.
  const part = likelyHash(path);
  return part ? `${path.slice(0, part.start)}*${path.slice(part.end)}` : path;
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
