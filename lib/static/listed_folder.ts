import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, sep } from "node:path";
import { isTemporaryName } from "../files/mod.ts";
import { manifestName } from "../precompress/mod.ts";
import { reasonOf } from "./failure.ts";
import type { Warn } from "./representation.ts";

/** A folder to list. */
export interface Folder {
  /** Below the root, with a `/` at its end; empty for the root. */
  readonly path: string;
  /** Its real path, with a separator at its end. */
  readonly real: string;
  /** The folder that it was found in. */
  readonly above: Folder | undefined;
}

/** What is in a folder. */
export interface ListedFolder {
  readonly path: string;
  /** The real paths of the regular files, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly folders: readonly Folder[];
}

/** The folder that is served; `real` is its real path. */
export function rootFolder(real: string): Folder {
  return { path: "", real: withSeparator(real), above: undefined };
}

/** Lists folders, and follows the links in them that stay below the root. */
export class FolderLister {
  readonly #root: string;
  readonly #warn: Warn;
  readonly #dotfiles: boolean;

  constructor(root: Folder, warn: Warn, dotfiles: boolean) {
    this.#root = root.real;
    this.#warn = warn;
    this.#dotfiles = dotfiles;
  }

  /**
   * Lists `folder`.
   *
   * @throws if it cannot be read.
   */
  list(folder: Folder): ListedFolder {
    const files = new Map<string, string>();
    const folders: Folder[] = [];
    for (const entry of readdirSync(folder.real, { withFileTypes: true })) {
      const { name } = entry;
      if (this.#isHidden(name)) continue;
      const found = entry.isSymbolicLink() ? this.#follow(name, folder) : kindOf(entry, folder.real + name);
      if (found?.kind === "file") files.set(name, found.real);
      if (found?.kind === "folder") {
        folders.push({ path: `${folder.path}${name}/`, real: withSeparator(found.real), above: folder });
      }
    }
    return { path: folder.path, files, folders };
  }

  #isHidden(name: string): boolean {
    if (!name.startsWith(".")) return false;
    return isOurs(name) || (!this.#dotfiles && name !== ".well-known");
  }

  /** What a link leads to, if that is something to serve. */
  #follow(name: string, folder: Folder): Found | undefined {
    try {
      const real = realpathSync(folder.real + name);
      if (!withSeparator(real).startsWith(this.#root)) throw new TypeError("it leads out of the folder");
      if (isAround(folder, withSeparator(real))) throw new TypeError("it leads to a folder that it is in");
      return isOurs(basename(real)) ? undefined : kindOf(statSync(real), real);
    } catch (error) {
      this.#warn(folder.path + name, `this symbolic link is left out: ${whyNot(error)}`);
      return undefined;
    }
  }
}

/** Something to serve. */
interface Found {
  readonly kind: "file" | "folder";
  readonly real: string;
}

/** Undefined for devices, pipes and sockets: they have no content to serve. */
function kindOf(found: Dirent | Stats, real: string): Found | undefined {
  if (found.isFile()) return { kind: "file", real };
  return found.isDirectory() ? { kind: "folder", real } : undefined;
}

/** Whether `real` is `folder` or one that leads to it. */
function isAround(folder: Folder, real: string): boolean {
  for (let each: Folder | undefined = folder; each; each = each.above) {
    if (each.real === real) return true;
  }
  return false;
}

/** Whether it is a name that precompress gives to what is for nobody else. */
function isOurs(name: string): boolean {
  return name === manifestName || isTemporaryName(name);
}

function whyNot(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === "ENOENT" ? "it leads nowhere" : reasonOf(error);
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}
