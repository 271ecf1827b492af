import { reasonOf } from "./failure.ts";
import { FoundFiles } from "./found_files.ts";
import { FolderLister, type ListedFolder, rootFolder } from "./listed_folder.ts";
import type { Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";
import { variantKinds } from "./variant_kinds.ts";

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
      for (const each of listed.folders) waiting.push(each);
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
  const originals: string[] = [];
  const variantsOf = new Map<string, number>(); // a bit a kind: 40,000 names are put together with extensions in 50 ms
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
