import { lstat, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { foldedName, holds, ignoreMissing, isMissing, listedName, realPathOf } from "../files/internal.ts";
import { type Folder, readContent } from "./folder.ts";
import { explain } from "./problem.ts";

/** The real location of a path below a folder. */
export interface RealPlace {
  /** The absolute path of the file, with links to its folder resolved. Its last part may be a link. */
  readonly path: string;
  /** Whether that folder is within the root of all paths. */
  readonly isInside: boolean;
  /** Whether the path has no links to folders. */
  readonly isDirect: boolean;
  /** Whether a folder's name differs in the case or normalization of letters, which the file system ignores. */
  readonly isOtherCase: boolean;
}

/** Resolves links to folders in paths below a root. */
export class RealPlaces {
  readonly #root: Folder;
  /** Real paths of folders that exist, by their paths below the root. */
  readonly #folders = new Map<string, string>();

  constructor(root: Folder) {
    this.#root = root;
  }

  /** Returns the real location of `path`; undefined if its folder is missing. */
  async of(path: string): Promise<RealPlace | undefined> {
    const folder = dirname(path);
    const real = this.#folders.get(folder) ?? await this.#look(folder);
    if (real === undefined) return undefined;
    const name = path.slice(folder === "." ? 0 : folder.length + 1);
    const called = this.#root.at(folder);
    const isOtherCase = real !== called && foldedName(real) === foldedName(called) && !await this.#hasLink(folder);
    return {
      path: join(real, name),
      isInside: holds(this.#root.path, real),
      isDirect: real === called || isOtherCase,
      isOtherCase,
    };
  }

  async #hasLink(folder: string): Promise<boolean> {
    for (let path = folder; path !== "."; path = dirname(path)) {
      if ((await lstat(this.#root.at(path))).isSymbolicLink()) return true;
    }
    return false;
  }

  async #look(folder: string): Promise<string | undefined> {
    // A dangling link, or a file instead of a folder, contains nothing.
    const real = await realPathOf(this.#root.at(folder)).catch(ignoreMissing);
    if (real === undefined || !(await lstat(real).catch(ignoreMissing))?.isDirectory()) return undefined;
    this.#folders.set(folder, real);
    return real;
  }

  /** Clears the cache, after folders have been removed. */
  forget(): void {
    this.#folders.clear();
  }
}

/** Whether a folder from `root` on lists a part of a path in another case or normalization, which the file system ignores. */
export async function isListedOtherwise(path: string, root: Folder): Promise<boolean> {
  for (let at = path; at !== root.path && dirname(at) !== at; at = dirname(at)) {
    const names = await readdir(dirname(at)).catch(() => []); // a folder that is missing, or may not be listed
    if (listedName(at, names) !== basename(at)) return true;
  }
  return false;
}

/** A regular file at a path where a run would write, or a link to one. */
export interface OccupantFile {
  readonly kind: "file";
  readonly size: number;
  readonly sha256: string;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly isLink: boolean;
  /** Whether a run wrote these bytes, so that they may be replaced or removed. */
  readonly isOurs: boolean;
}

/** The file, folder or other object at a path where a run would write. */
export type ExistingEntry =
  | { readonly kind: "nothing" }
  | OccupantFile
  /** A folder, a device, or a link to another place, which is never replaced. */
  | { readonly kind: "obstacle"; readonly message: string; readonly isFolder: boolean };

const NOTHING: ExistingEntry = { kind: "nothing" };
export const obstacle = (message: string): ExistingEntry => ({ kind: "obstacle", message, isFolder: false });
export const FOLDER_IN_THE_WAY = "a folder is in the way: remove it and run again";
const LINK_TO_FOLDER = "a symbolic link to a folder is in the way: remove it";
const FOLDER: ExistingEntry = { kind: "obstacle", message: FOLDER_IN_THE_WAY, isFolder: true };

/** Reads the existing entry of `place`. A link there must not leave `root`, if that is given. */
export async function occupantAt(
  place: RealPlace | undefined,
  root: Folder | undefined,
  wrote: (sha256: string) => boolean,
): Promise<ExistingEntry> {
  if (place === undefined) return NOTHING;
  try {
    const status = await lstat(place.path);
    const isLink = status.isSymbolicLink();
    const real = isLink ? await realPathOf(place.path) : place.path;
    if (isLink && root !== undefined && !holds(root.path, real)) {
      return obstacle("a symbolic link that leads out of the folder is in the way: remove it");
    }
    const found = isLink ? await stat(real) : status;
    if (found.isDirectory()) return isLink ? obstacle(LINK_TO_FOLDER) : FOLDER;
    if (!found.isFile()) return obstacle("it is in the way, and no regular file: remove it and run again");
    const { size, sha256 } = await readContent(real);
    const [{ mtimeMs, uid, gid }, mode] = [found, found.mode & 0o777];
    return { kind: "file", size, sha256, mtimeMs, mode, uid, gid, isLink, isOurs: !isLink && wrote(sha256) };
  } catch (error) {
    if (!isMissing(error)) return obstacle(explain(error));
    const isThere = await lstat(place.path).then(() => true, () => false);
    return isThere ? obstacle("a symbolic link that leads nowhere is in the way: remove it") : NOTHING;
  }
}
