import { examine } from "./examined_file.ts";
import type { Scan } from "./scan.ts";
import { reasonOf } from "./failure.ts";
import type { FoundFiles } from "./found_files.ts";
import { listTree } from "./listed_tree.ts";
import { takeRecords } from "./manifest_records.ts";
import type { Warn } from "./representation.ts";
import { Tree } from "./tree.ts";
import { treeRoot } from "./tree_root.ts";
import { Turns } from "./turns.ts";

export type { Warn } from "./representation.ts";

/** Options of {@linkcode scanTree}. */
export interface ScanOptions {
  /** Whether names that begin with a dot are in; `.well-known` always is. */
  readonly dotfiles: boolean;
  /** Paths of files that are read even if the manifest vouches for them. Default: none. */
  readonly doubted?: ReadonlySet<string>;
}

/**
 * Finds what there is to serve below a folder: regular files, with their variants beside them. Links are followed as
 * long as they stay below the folder's real path. What the manifest of precompress knows is not read.
 *
 * @param warn Called for everything that is left out though its name is one to serve.
 * @throws {TypeError} if there is no such folder, or it cannot be read.
 */
export async function scanTree(directory: string, warn: Warn, { dotfiles, doubted }: ScanOptions): Promise<Tree> {
  const root = treeRoot(directory);
  const turns = new Turns();
  let found: FoundFiles;
  try {
    found = await listTree(root, dotfiles, warn, turns);
  } catch (cause) {
    throw new TypeError(`cannot serve ${directory}: ${reasonOf(cause)}`, { cause });
  }
  const manifest = await takeRecords(root, found, warn, turns);
  const scan: Scan = { found, manifest, doubted: doubted ?? new Set(), warn, turns };
  for (let i = 0; i < found.length; i++) {
    if (turns.isOver) await turns.next();
    await examine(i, scan);
  }
  return new Tree(found);
}
