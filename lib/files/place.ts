import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { link, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "./failure.ts";
import { isFolderPath, lastingPath, realPath } from "./names.ts";
import type { OpenFile } from "./open_file.ts";
import { IN_USE, removeIfPossible, renameFile, renameFileNow, whileRefused, whileRefusedNow } from "./rename.ts";
import { temporaryPath } from "./temporary.ts";

/** The place where a file is to get its name, and its present holder. */
export interface Place {
  readonly path: string;
  /** undefined if nothing has the name. */
  readonly status: Stats | undefined;
  /** The symbolic link that led there. */
  readonly link?: string | undefined;
}

/** Returns the place of the file that a write to `path` reaches: links are followed, also to a file that does not exist. */
export function followedPlace(path: string, by?: string): Place {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isSymbolicLink()) return { path, status, link: by };
  const link = by ?? path;
  const target = statSync(path, { throwIfNoEntry: false });
  if (target === undefined) return followedPlace(lastingPath(readlinkSync(path), dirname(path)), link);
  // The words of links in /dev and /proc that lead to a pipe or a device are no path.
  return { path: target.isFile() ? realPath(path) : path, status: target, link };
}

/** Returns the place of a path as {@linkcode followedPlace} does, but a link is itself what has the name. */
export function placeItself(path: string): Place {
  return { path, status: lstatSync(path, { throwIfNoEntry: false }) };
}

/**
 * Opens what has a path, without a wait for a pipe, and calls `use` if that is a regular file; returns undefined if it is
 * a link or anything else: another user may have put that there.
 *
 * @param use Called with the descriptor, which is closed after that.
 */
export function withFileNow<T>(
  path: string,
  flags: number,
  use: (descriptor: number, status: BigIntStats) => T,
): T | undefined {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let descriptor: number;
  try {
    descriptor = whileRefusedNow(() => openSync(path, flags | O_NOFOLLOW | O_NONBLOCK), { codes: IN_USE });
  } catch (error) {
    if (["ELOOP", "ENOENT", "ENXIO"].includes(codeOf(error)!)) return undefined;
    throw error;
  }
  try {
    const status = fstatSync(descriptor, { bigint: true });
    return status.isFile() ? use(descriptor, status) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** The status of the regular file at a place as it is now; as it was if that is gone, undefined if there was none. */
export function replacedAt({ path, status }: Place): Stats | undefined {
  return [lstatSync(path, { throwIfNoEntry: false }), status].find((each) => each?.isFile());
}

/** @throws {Error} `EISDIR` or `EINVAL` of a place that no file can take: it would put an end to a device or a pipe. */
export function requireReplaceable({ path, status }: Place): void {
  const isFolder = isFolderPath(path) || status?.isDirectory();
  if (!isFolder && (status === undefined || status.isFile() || status.isSymbolicLink())) return;
  const [code, message] = isFolder
    ? ["EISDIR", "it is a directory"]
    : ["EINVAL", "it is a device, a pipe or a socket, and no file may take its place"];
  throw Object.assign(new Error(message), { code });
}

/**
 * Returns a check of what has a place by now, for the moment before a file takes it.
 *
 * @throws {Error} of the check: `EISDIR` or `EINVAL` of what no file can take, of a link that is new and to be followed, or
 * of one that leads elsewhere by now.
 */
export function stillReplaceable({ path, status, link }: Place, followLinks: boolean): () => void {
  return () => {
    const now = placeItself(path);
    requireReplaceable(now);
    const isNew = followLinks && !status?.isSymbolicLink() && now.status?.isSymbolicLink();
    const hasMoved = link !== undefined && realPlace(followedPlace(link).path) !== realPlace(path);
    if (!isNew && !hasMoved) return;
    const message = hasMoved ? `${link} leads elsewhere by now` : "it has become a symbolic link meanwhile";
    throw Object.assign(new Error(`${message}: write it again`), { code: "EINVAL" });
  };
}

function realPlace(path: string): string {
  return join(realPath(dirname(path)), basename(path));
}

/** A path for a temporary file beside `path`, which stays the same when a link to that folder leads elsewhere. */
export function temporaryBeside(path: string): string {
  try {
    return temporaryPath(realPlace(path));
  } catch {
    return temporaryPath(path); // its opening will say why
  }
}

/** Codes of systems that give files away by their superuser only, or not at all. */
const mayNot: ReadonlySet<unknown> = new Set(["EPERM", "EINVAL", "ENOSYS", "ENOTSUP"]);

/** Cuts the bits of group and others to those that both have: what is safe while a file's group is not yet the right one. */
export function withoutGroup(mode: number): number {
  const both = mode & mode >> 3 & 0o7;
  return mode & 0o700 | both << 3 | both;
}

/**
 * Gives a file the permission bits of the one that it replaces, but for those that run it with its owner's rights; and
 * that one's owner and group, as far as this process may. A group that it may not give gets no right that others lack,
 * and the reverse.
 */
export async function keepAttributes(file: OpenFile, replaced: Stats | BigIntStats): Promise<void> {
  const [mode, uid, gid] = [replaced.mode, replaced.uid, replaced.gid].map(Number);
  let own = file.status();
  if (own.uid !== uid || own.gid !== gid) {
    await give(file, uid, gid);
    own = file.status();
    if (own.gid !== gid) await give(file, own.uid, gid);
    own = file.status();
  }
  const bits = own.gid === gid ? mode & 0o777 : withoutGroup(mode);
  if ((own.mode & 0o7777) !== bits) await file.chmod(bits);
}

async function give(file: OpenFile, uid: number, gid: number): Promise<void> {
  await file.chown(uid, gid).catch((error) => {
    if (!mayNot.has(error.code)) throw error;
  });
}

/** The options by which a complete file takes its name. */
export interface NameOptions {
  /**
   * Whether a file that has the name is replaced. If not, and the file system has no links, one that another process makes
   * at the very moment is replaced all the same.
   */
  readonly replace: boolean;
  readonly atOnce: boolean;
  /**
   * Called before each attempt, in the turn of the event loop that makes it: nothing of this process comes between. What
   * it throws refuses the name.
   */
  readonly before?: (() => void) | undefined;
  /** Called before each attempt to replace what has the name, as `before`, where little may come between. */
  readonly check?: (() => void) | undefined;
  /** The path by which the file can be taken away again. Default: that by which it got its name. */
  readonly path?: string | undefined;
}

/**
 * Gives the temporary file `from` the name `to`, in the same folder.
 *
 * @throws {Error} what the file system says, with its `code`: `EEXIST` of a name that is taken.
 */
export async function takeName(from: string, to: string, options: NameOptions): Promise<void> {
  const { replace, before, check } = options;
  const atOnce = options.atOnce || before !== undefined;
  if (replace) return await renameFile(from, to, { atOnce, before: () => (check?.(), before?.()) });
  before?.();
  try {
    await (atOnce ? linkSync(from, to) : link(from, to)); // never replaces anything
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") throw error;
    // In one turn of the event loop with the look at the name: others of this process take names, too.
    return await renameFile(from, to, { atOnce: true, before: () => (before?.(), requireFree(from, to)) });
  }
  await whileRefused(() => atOnce ? unlinkSync(from) : unlink(from)).catch(() => {}); // the file has its name
}

/** Takes a name as {@linkcode takeName} does, synchronously, and replaces nothing. */
export function takeNameNow(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    requireFree(from, to);
    if ((error as { code?: unknown }).code === "ENOENT") throw error;
    return renameFileNow(from, to, () => requireFree(from, to)); // a file system without links
  }
  removeIfPossible(from);
}

/** @throws {Error} `EEXIST` if something has the name: seconds go by between the attempts to rename a file that a scanner has open. */
function requireFree(from: string, to: string): void {
  if (lstatSync(to, { throwIfNoEntry: false }) === undefined) return;
  throw Object.assign(new Error(`EEXIST: file already exists, link '${from}' -> '${to}'`), { code: "EEXIST" });
}
