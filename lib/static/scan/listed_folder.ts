import { realpathSync, statSync } from "node:fs";
import { basename, sep } from "node:path";
import { isOwnName } from "../../precompress/internal.ts";
import { folderEntries } from "../../runtime/mod.ts";
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

/** The entries of a folder. */
export class ListedFolder {
  /** Below the root, with a `/` at its end; empty for the root. */
  readonly path: string;
  /** Its real path, with a separator at its end. */
  readonly real: string;
  /** The names of regular files, and of links to such. */
  readonly files: Set<string> = new Set();
  /** The real paths of those that are links. */
  readonly links: Map<string, string> = new Map();
  readonly folders: Folder[] = [];

  constructor({ path, real }: Folder) {
    this.path = path;
    this.real = real;
  }
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
    const listed = new ListedFolder(folder);
    for (const entry of folderEntries(folder.real)) {
      const { name } = entry;
      if (this.#isHidden(name)) continue;
      if (entry.isFile) listed.files.add(name);
      else if (entry.isDirectory) listed.folders.push(folderIn(folder, name, folder.real + name));
      else if (entry.isSymlink) this.#addLink(name, folder, listed);
      // Devices, pipes and sockets have no content to serve.
    }
    return listed;
  }

  #isHidden(name: string): boolean {
    if (!name.startsWith(".")) return false;
    return isOwnName(name) || (!this.#dotfiles && name !== ".well-known");
  }

  #addLink(name: string, folder: Folder, listed: ListedFolder): void {
    try {
      const real = realpathSync(folder.real + name);
      if (!withSeparator(real).startsWith(this.#root)) throw new TypeError("it leads out of the folder");
      if (isOwnName(basename(real))) return;
      const found = statSync(real);
      if (found.isDirectory()) {
        if (isAround(folder, withSeparator(real))) throw new TypeError("it leads to a folder that it is in");
        listed.folders.push(folderIn(folder, name, real));
      } else if (found.isFile()) {
        listed.files.add(name);
        listed.links.set(name, real);
      }
    } catch (error) {
      this.#warn(folder.path + name, `this symbolic link is left out: ${whyNot(error)}`);
    }
  }
}

function folderIn(above: Folder, name: string, real: string): Folder {
  return { path: `${above.path}${name}/`, real: withSeparator(real), above };
}

/** Whether `real` is `folder` or one that leads to it. */
function isAround(folder: Folder, real: string): boolean {
  for (let each: Folder | undefined = folder; each; each = each.above) {
    if (each.real === real) return true;
  }
  return false;
}

function whyNot(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === "ENOENT" ? "it leads nowhere" : reasonOf(error);
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}
