import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import { holds, isOneFolder, realPathOf } from "../files/internal.ts";
import { isTemporaryName } from "../files/mod.ts";
import type { Folder } from "./folder.ts";
import { isOwnName } from "./manifest.ts";
import { explain, type Problem } from "./problem.ts";

export interface FoundFile {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The path without links to folders, if it has any and each place is visited once. */
  readonly place?: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** The time of its last change of any kind; undefined for a file that a run makes. */
  readonly ctimeMs?: number;
  readonly mode: number;
  /** Its owner and group; undefined for a file that a run makes. */
  readonly uid?: number;
  readonly gid?: number;
}

export interface Tree {
  /** The files, sorted by path. */
  readonly files: FoundFile[];
  /** The temporary files of this run and others, as paths below the folder. */
  readonly temporaries: string[];
  /** The number of names that begin with a dot and are skipped, but not excluded; a folder counts once. */
  dotfiles: number;
  readonly problems: Problem[];
}

export interface WalkOptions {
  /** Whether names that begin with a dot are included; `.well-known` always is. */
  readonly dotfiles: boolean;
  readonly followLinks: boolean;
  /** Whether each place is visited once, by its own path if that is in the tree, so that no file is written twice. */
  readonly once: boolean;
  /** The folder that files are copied to, to which links are not followed. Default: none. */
  readonly copiedTo?: Folder | undefined;
  /** Whether a path is excluded, so that an error there is not a problem. Default: never. */
  readonly isExcluded?: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the files below `root`. Symbolic links are followed, except those that lead out of `root` or into a loop. */
export async function walk(root: Folder, options: WalkOptions): Promise<Tree> {
  const walker = new Walker(root, options);
  try {
    await walker.run();
  } catch (cause) {
    if (options.signal?.aborted) throw options.signal.reason;
    throw new Error(`cannot read ${root.path}: ${explain(cause)}`, { cause });
  }
  walker.tree.files.sort((a, b) => a.path < b.path ? -1 : 1);
  return walker.tree;
}

/** A link to a folder, followed after all folders were visited by their own paths. */
interface FolderLink {
  readonly path: string;
  readonly real: string;
  readonly above: readonly string[];
}

class Walker {
  readonly tree: Tree = { files: [], temporaries: [], dotfiles: 0, problems: [] };
  readonly #root: Folder;
  readonly #options: WalkOptions;
  #realRoot = "";
  #visited = new Set<string>();
  /** The visited paths whose names may be decoded from names that are not UTF-8. */
  #decoded = new Set<string>();
  #links: FolderLink[] = [];

  constructor(root: Folder, options: WalkOptions) {
    this.#root = root;
    this.#options = options;
  }

  async run(): Promise<void> {
    this.#realRoot = await realPathOf(this.#root.path);
    await this.#visit("", [this.#realRoot]);
    for (let links = this.#takeLinks(); links.length > 0; links = this.#takeLinks()) {
      for (const { path, real, above } of links) {
        await this.#attempt(path, () => this.#visit(path, [...above, real]));
      }
    }
  }

  #takeLinks(): FolderLink[] {
    return this.#links.splice(0).sort((a, b) => a.path < b.path ? -1 : 1);
  }

  /** Visits a folder. `above`: the real paths of the folders that lead to `folder`, itself included. */
  async #visit(folder: string, above: readonly string[]): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const real = above.at(-1)!;
    if (this.#options.once && this.#visited.has(real)) return;
    this.#visited.add(real);
    for (const entry of await readdir(this.#root.at(folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      const isHidden = entry.name.startsWith(".") && entry.name !== ".well-known";
      if (isTemporaryName(entry.name)) this.tree.temporaries.push(path);
      else if (isOwnName(entry.name)) continue;
      else if (isHidden && !this.#options.dotfiles) this.tree.dotfiles += this.#options.isExcluded?.(path) ? 0 : 1;
      else await this.#attempt(path, async () => await this.#visitEntry(path, await this.#entryOf(path, entry), above));
    }
  }

  async #attempt(path: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      if (!this.#options.isExcluded?.(path)) this.tree.problems.push({ path, message: explain(error) });
    }
  }

  /** Returns the entry at a path. A name that is not UTF-8 is decoded to the name of another file, which may exist. */
  async #entryOf(path: string, entry: Dirent): Promise<Dirent | Stats> {
    if (!entry.name.includes("\ufffd")) return entry;
    const found = this.#decoded.has(path) ? undefined : await lstat(this.#root.at(path)).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
    this.#decoded.add(path);
    if (!found) throw new Error("its name is not UTF-8: rename it");
    return found;
  }

  async #visitEntry(path: string, entry: Dirent | Stats, above: readonly string[]): Promise<void> {
    if (entry.isSymbolicLink()) return await this.#visitLink(path, above);
    if (entry.isDirectory()) return await this.#visit(path, [...above, join(above.at(-1)!, basename(path))]);
    this.#add(path, await stat(this.#root.at(path)), above);
  }

  async #visitLink(path: string, above: readonly string[]): Promise<void> {
    const full = this.#root.at(path);
    const real = await realPathOf(full).catch((error) => {
      if (error.code === "ENOENT") throw new Error("the symbolic link leads nowhere: remove or exclude it");
      throw error;
    });
    if (!this.#options.followLinks && !holds(this.#realRoot, real)) {
      throw new Error("the symbolic link leads out of the folder: exclude it, or pass --follow-links");
    }
    const copiedTo = this.#options.copiedTo?.path;
    if (copiedTo !== undefined && (holds(copiedTo, real) || holds(real, copiedTo))) {
      throw new Error("the symbolic link leads to the folder that is written to: exclude it");
    }
    if (isOwnName(basename(real))) return;
    const found = await stat(full);
    if (!found.isDirectory()) return this.#add(path, found, above);
    if (above.some((each) => isOneFolder(each, real))) {
      throw new Error("the symbolic link leads to a folder it is in, a loop: remove or exclude it");
    }
    this.#links.push({ path, real, above });
  }

  #add(path: string, found: Stats, above: readonly string[]): void {
    // Sockets, pipes and devices have no content to compress.
    if (!found.isFile()) return;
    const { size, mtimeMs, ctimeMs, uid, gid } = found;
    const mode = found.mode & 0o777;
    const place = this.#options.once ? relative(this.#realRoot, join(above.at(-1)!, basename(path))) : path;
    const real = sep === "/" ? place : place.replaceAll(sep, "/");
    const isDirect = real === path || isAbsolute(place); // absolute: on another drive
    this.tree.files.push({ path, ...(!isDirect && { place: real }), size, mtimeMs, ctimeMs, mode, uid, gid });
  }
}
