import { createHash } from "node:crypto";
import { fileStatus } from "../../runtime/mod.ts";
import type { FoundFiles } from "./found_files.ts";
import { listTree } from "./listed_tree.ts";
import { treeRoot } from "./tree_root.ts";
import { Turns } from "./turns.ts";

/** Characters of a listing that are hashed at a time. */
const AT_ONCE = 16_384;

/** The names and statuses of all files of a folder, which tell a change without reading any. */
export class TreeState {
  /** A hash of all of it. */
  readonly digest: string;
  /** When anything in the folder last changed, in ms since 1970, by the file system's clock. */
  readonly changedMs: number;
  readonly #found: FoundFiles;

  constructor(found: FoundFiles, digest: string, changedMs: number) {
    this.#found = found;
    this.digest = digest;
    this.changedMs = changedMs;
  }

  /** How many files there are, not counting the variants beside them. */
  get length(): number {
    return this.#found.length;
  }

  /** Whether there is a file at a path below the folder. */
  has(path: string): boolean {
    return this.#found.paths.find(path) !== undefined;
  }
}

/**
 * Looks at all files of a folder.
 *
 * @returns undefined if they cannot be looked at: the folder is gone, or files go meanwhile.
 */
export async function treeState(directory: string, dotfiles: boolean): Promise<TreeState | undefined> {
  const turns = new Turns();
  try {
    const root = treeRoot(directory);
    const found = await listTree(root, dotfiles, () => {}, turns);
    return await stateOf(root, found, turns);
  } catch {
    return undefined; // a scan would tell why, if it is one for long
  }
}

async function stateOf(root: string, found: FoundFiles, turns: Turns): Promise<TreeState> {
  const hash = createHash("sha256");
  let changedMs = 0;
  let text = root;
  const look = (path: string): void => {
    const { size, mtimeMs, ctimeMs, ino } = fileStatus(path);
    changedMs = Math.max(changedMs, ctimeMs);
    text += `\n${path} ${size} ${mtimeMs} ${ctimeMs} ${ino}`;
    if (text.length < AT_ONCE) return;
    hash.update(text);
    text = "";
  };
  for (const folder of found.folders) look(folder);
  for (let file = 0; file < found.length; file++) {
    if (turns.isOver) await turns.next();
    for (let i = found.firstOf(file); i < found.firstOf(file + 1); i++) look(found.realPathOf(file, i));
  }
  return new TreeState(found, hash.update(text).digest("hex"), changedMs);
}
