import { reasonOf } from "./failure.ts";
import { FoundFiles } from "./found_files.ts";
import { FolderLister, type ListedFolder, rootFolder } from "./listed_folder.ts";
import type { Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";
import { originalOf, variantKinds } from "./variant_kinds.ts";

/**
 * Lists the files below `root`, a real path, with the variants that stand beside them.
 *
 * @throws if the root cannot be read.
 */
export async function listTree(root: string, dotfiles: boolean, warn: Warn, turns: Turns): Promise<FoundFiles> {
  const found = new FoundFiles();
  const first = rootFolder(root);
  const lister = new FolderLister(first, warn, dotfiles);
  const waiting = [first];
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    if (turns.isOver) await turns.next();
    try {
      const listed = lister.list(folder);
      waiting.push(...listed.folders);
      addFiles(listed, found);
    } catch (error) {
      if (folder === first) throw error;
      warn(folder.path.slice(0, -1), `this folder is left out: ${reasonOf(error)}`);
    }
  }
  return found;
}

function addFiles({ path, real, files, links }: ListedFolder, found: FoundFiles): void {
  found.addFolder(real);
  for (const name of files) {
    const original = originalOf(name);
    if (original !== undefined && files.has(original)) continue; // it is that one's variant
    found.addFile(path + name, links.get(name));
    for (const kind of variantKinds) {
      const variant = name + kind.extension;
      if (files.has(variant)) found.addVariant(kind, links.get(variant));
    }
  }
}
