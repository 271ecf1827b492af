import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { isAbandonedTemporary } from "../files/mod.ts";
import type { Context } from "./context.ts";
import type { FormerRuns } from "./former_runs.ts";
import { isOwnName } from "./manifest.ts";
import { cannotWrite } from "./problem.ts";
import { requireMatch } from "./selection.ts";
import { type TreeFiles, treeFilesOf } from "./tree_files.ts";
import { type Tree, walk } from "./walk.ts";

export interface Found extends TreeFiles {
  /** Paths of files and folders that could not be read. */
  readonly unreadable: Set<string>;
  /** Paths of temporary files that killed runs left below the target. */
  readonly temporaries: string[];
}

/** Finds the files of the source. @throws {Error} if there are none, or the target has files that no run wrote. */
export async function walkSite({ former, ledger, origin, places, selection, settings }: Context): Promise<Found> {
  const { isCopy } = former;
  if (isCopy && !settings.force) await requireOwn(former);
  const tree = await walk(places.source, {
    ...settings,
    once: !isCopy,
    copiedTo: isCopy ? places.target : undefined,
    isExcluded: selection.isExcluded,
  });
  const files = await treeFilesOf(tree.files, origin);
  if (tree.files.length === 0 && tree.problems.length === 0) {
    throw new Error(`there are no files in ${places.source.path}: build first, or name another folder`);
  }
  for (const path of files.beside.keys()) selection.isWanted(path); // notes the matches
  if (files.files.length > 0) requireMatch(files.files, selection, settings, places.source.path);
  for (const { path, message } of tree.problems) ledger.fail(path, new Error(message));
  ledger.files = files.files.length + (isCopy ? files.beside.size : 0);
  ledger.dotfiles = tree.dotfiles;
  const unreadable = new Set(tree.problems.map(({ path }) => path));
  return { ...files, unreadable, temporaries: await abandonedTemporaries(tree, former, settings.signal) };
}

/** Returns the temporary files of killed runs below the target. */
async function abandonedTemporaries(
  tree: Tree,
  { folder, isCopy }: FormerRuns,
  signal?: AbortSignal,
): Promise<string[]> {
  if (isCopy && !existsSync(folder.path)) return [];
  const walked = isCopy ? await walk(folder, { dotfiles: true, followLinks: false, once: true, signal }) : tree;
  const abandoned: string[] = [];
  for (const path of walked.temporaries) if (await isAbandonedTemporary(folder.at(path))) abandoned.push(path);
  return abandoned;
}

/** @throws {Error} if a folder for copies contains files that no run wrote. */
async function requireOwn({ folder, manifest, journal }: FormerRuns): Promise<void> {
  if (manifest?.copied || journal?.copied) return;
  const names = await readdir(folder.path).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw cannotWrite(folder.path, error);
  });
  const foreign = names.filter((name) => !isOwnName(name)).sort();
  if (foreign.length === 0) return;
  const told = foreign.slice(0, 3).join(", ") + (foreign.length > 3 ? ` and ${foreign.length - 3} more` : "");
  throw new Error(`${folder.path} holds files that no run put there (${told}): choose an empty folder, or use --force`);
}
