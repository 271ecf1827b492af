import { lstatSync, readlinkSync, statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import { realPath, whileRefused } from "../../files/internal.ts";
import { isOwnName } from "../../precompress/internal.ts";
import { folderEntries } from "../../runtime/mod.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import { isShortage, reasonOf, WHILE_REFUSED } from "./file_content.ts";
import { FileColumns } from "./found_files.ts";
import { variantKinds, type Warn } from "./representation.ts";

/** Returns the real path of the folder to serve, which may be given as a symbolic link. */
export function treeRoot(directory: string): string {
  if (typeof directory !== "string") throw new TypeError(`cannot serve ${directory}: name the folder by its path`);
  if (directory === "") throw new TypeError('cannot serve "": name the folder, "." if it is the current one');
  try {
    const root = realPath(directory);
    if (statSync(root).isDirectory()) return root;
  } catch (cause) {
    const known = { ENOENT: "there is no such folder", ENOTDIR: "a part of the path is a file, not a folder" };
    throw new TypeError(`cannot serve ${directory}: ${reasonOf(cause, known)}`, { cause });
  }
  throw new TypeError(`cannot serve ${directory}: it is a file, not a folder`);
}

interface Folder {
  /** The path below the root, with a `/` at its end; empty for the root. */
  readonly path: string;
  /** The real path, with a separator at its end. */
  readonly real: string;
  readonly above: Folder | undefined;
}

interface ListedFolder extends Folder {
  /** The names of regular files, and of links to regular files. */
  readonly files: Set<string>;
  /** The real paths of the links, by name. */
  readonly links: Map<string, string>;
  readonly folders: Folder[];
}

interface Listing {
  /** The real path of the root, with a separator at its end. */
  readonly root: string;
  readonly dotfiles: boolean;
  readonly warn: Warn;
  /** The folders in which links can be redirected, or their targets replaced: some of them may have hidden names. */
  readonly linked: Set<string>;
}

/** Lists a folder, and follows those of its links that stay below the root. */
function list(folder: Folder, listing: Listing): ListedFolder {
  const listed: ListedFolder = { ...folder, files: new Set(), links: new Map(), folders: [] };
  for (const entry of folderEntries(folder.real)) {
    const { name } = entry;
    if (name.startsWith(".") && (isOwnName(name) || !listing.dotfiles && name !== ".well-known")) continue;
    if (entry.isFile) listed.files.add(name);
    else if (entry.isDirectory) listed.folders.push(folderIn(folder, name, folder.real + name));
    else if (entry.isSymlink) addLink(name, folder, listed, listing);
    // Devices, pipes and sockets have no content to serve.
  }
  return listed;
}

function addLink(name: string, folder: Folder, listed: ListedFolder, { root, warn, linked }: Listing): void {
  try {
    addLinked(folder.real + name, root, linked);
    const real = realPath(folder.real + name);
    if (!withSeparator(real).startsWith(root)) throw new TypeError("it leads out of the folder");
    if (isOwnName(basename(real))) return;
    const found = statSync(real);
    if (found.isDirectory()) {
      for (let each: Folder | undefined = folder; each; each = each.above) {
        if (each.real === withSeparator(real)) throw new TypeError("it leads to a folder that it is in");
      }
      listed.folders.push(folderIn(folder, name, real));
    } else if (found.isFile()) {
      listed.files.add(name);
      listed.links.set(name, real);
    }
  } catch (error) {
    if (isShortage(error)) throw error; // Bun opens links to resolve them
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "it leads nowhere" : reasonOf(error);
    warn(folder.path + name, `this symbolic link is left out: ${reason}`);
  }
}

/** Adds the folders below `root` that resolving `path` goes through, up to a missing one. */
function addLinked(path: string, root: string, linked: Set<string>): void {
  let rest = path.slice(root.length).split(sep);
  let at = root;
  for (let links = 0; rest.length > 0 && links < 40;) { // as on Linux
    linked.add(at);
    const next = at + rest.shift();
    const found = lstatSync(next, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      const target = resolve(at, readlinkSync(next));
      if (!withSeparator(target).startsWith(root)) return;
      rest = [...target.slice(root.length).split(sep), ...rest].filter((part) => part !== "");
      at = root;
      links++;
    } else if (found?.isDirectory()) {
      at = withSeparator(next);
    } else {
      return;
    }
  }
}

function folderIn(above: Folder, name: string, real: string): Folder {
  return { path: `${above.path}${name}/`, real: withSeparator(real), above };
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

/** Lists the files below `root`, a real path, with their variants. Throws if the root cannot be read, or descriptors are short. */
export async function listTree(root: string, dotfiles: boolean, warn: Warn, turns: TurnSlicer): Promise<FileColumns> {
  const found = new FileColumns();
  const first: Folder = { path: "", real: withSeparator(root), above: undefined };
  const listing = { root: first.real, dotfiles, warn, linked: new Set<string>() };
  const waiting = [first];
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    if (turns.isOver) await turns.next();
    try {
      const listed = await whileRefused(() => list(folder, listing), WHILE_REFUSED);
      for (const each of listed.folders) waiting.push(each);
      addFiles(listed, found);
    } catch (error) {
      if (folder === first || isShortage(error)) throw error;
      warn(folder.path.slice(0, -1), `this folder is left out: ${reasonOf(error)}`);
    }
  }
  for (const folder of listing.linked.difference(new Set(found.folders))) found.folders.push(folder);
  return found;
}

function addFiles({ path, real, files, links }: ListedFolder, found: FileColumns): void {
  found.folders.push(real);
  const originals: string[] = [];
  // A bit for each kind: joining 40,000 names with extensions would take 50 ms.
  const variantsOf = new Map<string, number>();
  for (const name of files) {
    const kind = variantKinds.find(({ extension }) => {
      return name.endsWith(extension) && files.has(name.slice(0, -extension.length));
    });
    if (kind) {
      const original = name.slice(0, -kind.extension.length);
      variantsOf.set(original, (variantsOf.get(original) ?? 0) | 1 << kind.index);
    } else {
      originals.push(name);
    }
  }
  for (const name of originals) {
    found.addFile(path + name, links.get(name));
    const variants = variantsOf.get(name) ?? 0;
    for (const kind of variantKinds) {
      if (variants & 1 << kind.index) {
        found.addVariant(kind, links.size > 0 ? links.get(name + kind.extension) : undefined);
      }
    }
  }
}
