import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import type { Target } from "./target.ts";
import type { FoundFile } from "./walk.ts";

/** The files of a tree by what a run does with them. */
export interface TreeFiles {
  /** The files to compress, unless they are not worth it. */
  readonly files: readonly FoundFile[];
  /** The paths of folders that any of them is in. */
  readonly folders: ReadonlySet<string>;
  /** By path: those that stand where a variant of one of `files` would be, and that no run wrote. */
  readonly beside: ReadonlyMap<string, FoundFile>;
}

const suffixes = Object.values(extensions);

/** Sorts out the files that were found in `origin`: what runs wrote there is left out. */
export async function treeFilesOf(found: readonly FoundFile[], origin: Target): Promise<TreeFiles> {
  const own: FoundFile[] = [];
  for (const file of found) {
    if (!await isOutput(file.path, origin)) own.push(file);
  }
  const paths = new Set(own.map(({ path }) => path));
  const beside = new Map(own.filter(({ path }) => isBeside(path, paths)).map((file) => [file.path, file]));
  return { files: own.filter(({ path }) => !beside.has(path)), folders: foldersOf(paths), beside };
}

function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break; // those above are there, too
      folders.add(folder);
    }
  }
  return folders;
}

/** The path of the variant of `path` in a format. */
export function variantPath(path: string, format: VariantFormat | DeltaFormat): string {
  return path + extensions[format];
}

async function isOutput(path: string, origin: Target): Promise<boolean> {
  if (!await origin.knows(path)) return false;
  const occupant = await origin.look(path);
  return occupant.kind === "file" && occupant.isOurs;
}

function isBeside(path: string, paths: ReadonlySet<string>): boolean {
  return suffixes.some((suffix) => path.endsWith(suffix) && paths.has(path.slice(0, -suffix.length)));
}
