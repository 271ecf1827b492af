import { examine, type Scan } from "./examined_file.ts";
import { reasonOf } from "./failure.ts";
import { type Folder, FolderLister, type ListedFolder, rootFolder } from "./listed_folder.ts";
import { ManifestRecords } from "./manifest_records.ts";
import type { TreeFile, Warn } from "./representation.ts";
import { treeRoot } from "./tree_root.ts";
import { Turns } from "./turns.ts";
import { originalOf } from "./variant_kinds.ts";

export type { Representation, TreeFile, Warn } from "./representation.ts";

/** Options of {@linkcode scanTree}. */
export interface ScanOptions {
  /** Whether names that begin with a dot are in; `.well-known` always is. */
  readonly dotfiles: boolean;
}

/**
 * Finds what there is to serve below a folder: regular files, with their variants beside them, sorted by path. Links
 * are followed as long as they stay below the folder's real path. What the manifest of precompress knows is not read.
 *
 * @param warn Told of everything that is left out though its name is one to serve.
 * @throws {TypeError} if there is no such folder, or it cannot be read.
 */
export async function scanTree(directory: string, warn: Warn, { dotfiles }: ScanOptions): Promise<TreeFile[]> {
  const root = rootFolder(treeRoot(directory));
  const lister = new FolderLister(root, warn, dotfiles);
  const turns = new Turns();
  const scan: Scan = { manifest: await ManifestRecords.in(root.real, warn, turns), warn, turns };
  const files: TreeFile[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    const listed = listOrWarn(folder);
    if (!listed) continue;
    waiting.push(...listed.folders);
    await addFiles(listed, scan, files);
  }
  return files.sort((a, b) => a.path < b.path ? -1 : 1);

  function listOrWarn(folder: Folder): ListedFolder | undefined {
    try {
      return lister.list(folder);
    } catch (cause) {
      if (folder === root) throw new TypeError(`cannot serve ${directory}: ${reasonOf(cause)}`, { cause });
      warn(folder.path.slice(0, -1), `this folder is left out: ${reasonOf(cause)}`);
      return undefined;
    }
  }
}

async function addFiles(folder: ListedFolder, scan: Scan, files: TreeFile[]): Promise<void> {
  for (const name of folder.files.keys()) {
    if (scan.turns.isOver) await scan.turns.next();
    const original = originalOf(name);
    if (original !== undefined && folder.files.has(original)) continue; // it is that one's variant
    const file = await examine(name, folder, scan);
    if (file) files.push(file);
  }
}
