import { createHash } from "node:crypto";
import { fileStatus } from "../../runtime/mod.ts";
import { TurnSlicer } from "../../timers/mod.ts";
import { examine, examineLater, isLong, type Scan } from "./examine.ts";
import { isShortage, LargeContents, reasonOf, stateText } from "./file_content.ts";
import type { FileColumns } from "./found_files.ts";
import { listTree, treeRoot } from "./list_tree.ts";
import { movedSince, takeRecords } from "./manifest_records.ts";
import type { Warn } from "./representation.ts";
import { Tree } from "./tree.ts";

/** The number of characters of a listing that are hashed at a time. */
const AT_ONCE = 16_384;

/** The names and statuses of all files of a folder, which show a change without reading a file. */
export interface TreeState {
  /** A hash of all names and statuses. */
  readonly digest: string;
  /** The time of the last change in the folder, in ms since 1970, by the file system's clock. */
  readonly changedMs: number;
  /** The number of files, without the variants beside them. */
  readonly length: number;
  has(path: string): boolean;
}

/** Reads the state of a folder; undefined if it is missing, or files disappear meanwhile. */
export async function treeState(directory: string, dotfiles: boolean): Promise<TreeState | undefined> {
  const turns = new TurnSlicer();
  try {
    const root = treeRoot(directory);
    const found = await listTree(root, dotfiles, () => {}, turns);
    return await stateOf(root, found, turns);
  } catch {
    return undefined; // a scan would report a lasting failure
  }
}

async function stateOf(root: string, found: FileColumns, turns: TurnSlicer): Promise<TreeState> {
  const hash = createHash("sha256");
  let changedMs = 0;
  let text = root;
  const look = (path: string): void => {
    const status = fileStatus(path);
    changedMs = Math.max(changedMs, status.ctimeMs);
    text += `\n${path} ${stateText(status)}`;
    if (text.length < AT_ONCE) return;
    hash.update(text);
    text = "";
  };
  for (const folder of found.folders) look(folder);
  for (let file = 0; file < found.length; file++) {
    if (turns.isOver) await turns.next();
    for (let i = found.firstOf(file); i < found.firstOf(file + 1); i++) look(found.realPathOf(file, i));
  }
  const digest = hash.update(text).digest("hex");
  return { digest, changedMs, length: found.length, has: (path) => found.paths.find(path) !== undefined };
}

export interface ScanOptions {
  /** Whether names that begin with a dot are included; `.well-known` always is. */
  readonly dotfiles: boolean;
  /** The paths of files that are read even if the manifest vouches for them. Default: none. */
  readonly doubted?: ReadonlySet<string>;
  /** Whether files that take long to read are left to `Tree.read()`. Default: false. */
  readonly isHasty?: boolean;
  /** The size in bytes above which files are identified by their status. Default: Infinity. */
  readonly hashLimit?: number;
  /** The large files that earlier scans have read. Default: none. */
  readonly large?: LargeContents;
}

/** The time in ms after which a hasty scan leaves all further files. */
const HASTE = 1000;

/** Finds the regular files below a folder, with variants. It follows links within the folder, and trusts precompress's manifest. Without free descriptors it fails after a while. */
export async function scanTree(directory: string, warn: Warn, options: ScanOptions): Promise<Tree> {
  const { dotfiles, doubted, isHasty = false, hashLimit = Infinity, large = new LargeContents() } = options;
  const begun = performance.now();
  const root = treeRoot(directory);
  const turns = new TurnSlicer();
  let found: FileColumns | undefined;
  try {
    found = await listTree(root, dotfiles, warn, turns);
    const lookedAt = await takeRecords(root, found, warn, turns);
    const moved = lookedAt === undefined ? new Set<string>() : movedSince(lookedAt, found.folders, large);
    const scan: Scan = { found, lookedAt, moved, doubted: doubted ?? new Set(), hashLimit, large, warn, turns };
    for (let i = 0; i < found.length; i++) {
      if (turns.isOver) await turns.next();
      if (isHasty && (performance.now() - begun > HASTE || isLong(i, scan))) found.unread.add(i);
      else await examine(i, scan);
    }
    return new Tree(found, (file) => examineLater(file, scan), large);
  } catch (cause) {
    if (found !== undefined && !isShortage(cause)) throw cause; // a user's callback for warnings threw
    throw new TypeError(`cannot serve ${directory}: ${reasonOf(cause)}`, { cause });
  }
}
