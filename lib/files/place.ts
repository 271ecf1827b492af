import { type BigIntStats, linkSync, lstatSync, readlinkSync, type Stats, statSync, unlinkSync } from "node:fs";
import { link, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "./failure.ts";
import { isFolderPath, lastingPath, realPath } from "./names.ts";
import { isOneFile, isSureNumber, type OpenFile } from "./open_file.ts";
import { ProcessLock } from "./process_lock.ts";
import { removeOwn, renameFile, renameFileNow } from "./rename.ts";
import { removeTemporary, temporaryPath } from "./temporary.ts";

/** The place where a file is to get its name, and the object that has the name now. */
export interface Place {
  readonly path: string;
  readonly status: Stats | undefined;
  /** The symbolic link that led there. */
  readonly link?: string | undefined;
}

/** Returns the place of the file that a write to `path` reaches: links are followed, even to a missing file. */
export function followedPlace(path: string, by?: string): Place {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isSymbolicLink()) return { path, status, link: by };
  const link = by ?? path;
  const target = statSync(path, { throwIfNoEntry: false });
  if (target === undefined) return followedPlace(lastingPath(readlinkSync(path), dirname(path)), link);
  // In /dev and /proc, the text of links to a pipe or a device is not a path.
  return { path: target.isFile() ? realPath(path) : path, status: target, link };
}

/** Returns the place of a path like {@linkcode followedPlace}, but a link counts as the object that has the name. */
export function placeItself(path: string): Place {
  return { path, status: lstatSync(path, { throwIfNoEntry: false }) };
}

/** Returns the present status of the regular file at a place; if it was removed, its former status, and undefined if there was none. */
export function replacedAt({ path, status }: Place): Stats | undefined {
  return [lstatSync(path, { throwIfNoEntry: false }), status].find((each) => each?.isFile());
}

/**
 * @throws {Error} `EISDIR` or `EINVAL` if the place has a folder, a device or a pipe, which a file must not replace.
 */
export function requireReplaceable({ path, status }: Place): void {
  const isFolder = isFolderPath(path) || status?.isDirectory();
  if (!isFolder && (status === undefined || status.isFile() || status.isSymbolicLink())) return;
  const [code, message] = isFolder
    ? ["EISDIR", "it is a directory"]
    : ["EINVAL", "it is a device, a pipe or a socket, and no file may take its place"];
  throw Object.assign(new Error(message), { code });
}

/**
 * Returns a check of the object at a place, for the moment before a file takes the place.
 *
 * @throws {Error} of the check: `EISDIR` or `EINVAL` for an object that a file must not replace, a new link that is to
 * be followed, or a link with another target.
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

/** Returns a path for a temporary file beside `path`, which does not change with links to that folder. */
export function temporaryBeside(path: string): string {
  try {
    return temporaryPath(realPlace(path));
  } catch {
    return temporaryPath(path); // opening the file reports the reason
  }
}

/** Codes of systems that let only their superuser change a file's owner, or do not support it. */
const mayNot: ReadonlySet<unknown> = new Set(["EPERM", "EINVAL", "ENOSYS", "ENOTSUP"]);

/** Reduces the bits of group and others to those that both have, which is safe while a file's group is not correct yet. */
export function withoutGroup(mode: number): number {
  const both = mode & mode >> 3 & 0o7;
  return mode & 0o700 | both << 3 | both;
}

/**
 * Gives a file the permission bits of the file that it replaces, except setuid and setgid, and its owner and group, as
 * far as this process may. If the group cannot be set, both the group and others get only the rights that both had.
 */
export function keepAttributes(file: OpenFile, replaced: Pick<Stats | BigIntStats, "mode" | "uid" | "gid">): void {
  const [mode, uid, gid] = [replaced.mode, replaced.uid, replaced.gid].map(Number);
  let own = file.status();
  if (own.uid !== uid || own.gid !== gid) {
    give(file, uid, gid);
    own = file.status();
    if (own.gid !== gid) give(file, own.uid, gid);
    own = file.status();
  }
  const bits = own.gid === gid ? mode & 0o777 : withoutGroup(mode);
  if ((own.mode & 0o7777) !== bits) file.chmod(bits);
}

function give(file: OpenFile, uid: number, gid: number): void {
  try {
    file.chown(uid, gid);
  } catch (error) {
    if (!mayNot.has((error as { code?: unknown }).code)) throw error;
  }
}

/** The options for giving a complete file its name. */
export interface NameOptions {
  /**
   * Whether an existing file of the name is replaced. On a file system without links, `false` still replaces a file
   * that a program without the folder's lock creates at the same moment.
   */
  readonly replace: boolean;
  /** Whether a lock of the caller keeps other processes from the name. Default: false. */
  readonly isLocked?: boolean;
  readonly atOnce: boolean;
  /**
   * Called before each attempt, in the same turn of the event loop, so that no other code of this process runs in
   * between. An exception in it rejects.
   */
  readonly before?: (() => void) | undefined;
  /** Called like `before`, but only before each attempt to replace an existing file, as late as possible. */
  readonly check?: (() => void) | undefined;
  /** The path by which the file can be removed again. Default: that by which it got its name. */
  readonly path?: string | undefined;
}

/**
 * Gives the temporary file `from` the name `to`, in the same folder.
 *
 * @throws {Error} of the file system, with its `code`: `EEXIST` if the name is taken.
 */
export async function takeName(from: string, to: string, options: NameOptions): Promise<void> {
  const { replace, isLocked = false, before, check } = options;
  const atOnce = options.atOnce || before !== undefined;
  if (replace) return await renameFile(from, to, { atOnce, before: () => (check?.(), before?.()) });
  before?.();
  try {
    await (atOnce ? linkSync(from, to) : link(from, to)); // never replaces a file
  } catch (error) {
    if (isNamed(from, to, error)) return void await removeTemporary(from, atOnce ? unlinkSync : unlink);
    if (["EEXIST", "ENOENT"].includes(codeOf(error)!)) throw error;
    const lock = isLocked ? undefined : lockOfNames(dirname(to));
    try {
      await lock?.take();
      // The rename runs in the same turn of the event loop as the check: this process takes other names, too.
      const free = (): void => (before?.(), lock?.requireHeld(), requireFree(from, to));
      return await renameFile(from, to, { atOnce: true, before: free });
    } finally {
      lock?.release();
    }
  }
  await removeTemporary(from, atOnce ? unlinkSync : unlink); // the file already has its name
}

/** Returns the lock of a folder on a file system without links, held while a name is taken that replaces no file. */
function lockOfNames(directory: string): ProcessLock {
  const busy = (): Error => Object.assign(new Error("another process takes a name there"), { code: "EBUSY" });
  // No series has this name, and thus this lock.
  return new ProcessLock({ directory, name: ".", subject: "the names of files", waitFor: 10_000, busy });
}

/** Takes a name like {@linkcode takeName}, synchronously, and replaces no file. */
export function takeNameNow(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (isNamed(from, to, error)) return void removeOwn(from);
    requireFree(from, to);
    if ((error as { code?: unknown }).code === "ENOENT") throw error;
    return renameFileNow(from, to, () => requireFree(from, to)); // the file system has no links
  }
  removeOwn(from);
}

/**
 * Whether a link failed only since a file server repeated the call: `to` is a name of the file `from` already. Two files
 * may have one rounded number, or none, so the file must have a second name, too; Deno has no number of names on Windows.
 */
function isNamed(from: string, to: string, error: unknown): boolean {
  if (codeOf(error) !== "EEXIST") return false;
  const [file, other] = [from, to].map((path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  return file !== undefined && other !== undefined && isOneFile(file, other) &&
    (file.nlink ? file.nlink > 1n : isSureNumber(file.ino));
}

/**
 * @throws {Error} `EEXIST` if the name is taken: the attempts to rename a file that a scanner has open take seconds.
 */
function requireFree(from: string, to: string): void {
  if (lstatSync(to, { throwIfNoEntry: false }) === undefined) return;
  throw Object.assign(new Error(`EEXIST: file already exists, link '${from}' -> '${to}'`), { code: "EEXIST" });
}
