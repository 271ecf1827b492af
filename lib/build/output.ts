import { join, relative, resolve, sep } from "node:path";
import { isWithin } from "../precompress/internal.ts";

/** The files that a build wrote, with what it knows of their names, until they are compressed. */
export class Output {
  readonly #folders = new Set<string>();
  /** By absolute path: whether the name holds a hash. */
  readonly #hashed = new Map<string, boolean>();

  /** Takes note of a file below an output folder. */
  add(folder: string, path: string, isHashed: boolean): void {
    this.addFolder(folder);
    this.#hashed.set(resolve(folder, path), isHashed);
  }

  /** Takes note of a folder that the build wrote to. */
  addFolder(folder: string): void {
    this.#folders.add(resolve(folder));
  }

  /** The folders, without those that others hold; they are forgotten. */
  takeFolders(): string[] {
    const all = [...this.#folders];
    this.#folders.clear();
    return all.filter((folder) => !all.some((other) => other !== folder && isWithin(folder, other)));
  }

  /** Whether the name of a file below `folder` holds a hash; undefined if it is not of this build. */
  isHashed(folder: string, path: string): boolean | undefined {
    return this.#hashed.get(join(folder, path));
  }
}

/** `folder` as people write it who are in `root`. */
export function shownFolder(folder: string, root: string): string {
  return isWithin(folder, root) ? relative(root, folder).replaceAll(sep, "/") : folder;
}
