import { constants } from "node:fs";
import { lstat, mkdir, opendir, readdir, rm, rmdir, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { processStart, userNumber } from "../runtime/mod.ts";
import { refuseOptions } from "../streams/internal.ts";
import { codeOf, failing, fileFailure, isMissing } from "./failure.ts";
import { isSureNumber, linkFlag, OpenFile, type OpenFileOptions, showsOpenFiles } from "./open_file.ts";
import { filePath, isTemporaryName, TEMPORARY } from "./names.ts";
import { isThreadAlive, mainThreadStart, pidNamespace } from "./process_identity.ts";
import { removeLater, removeLeftovers, renameFile, whileRefused } from "./rename.ts";

const DAY = 24 * 60 * 60 * 1000;
/** The time in ms by which the file system's clock may be behind the process's. */
const MTIME_RESOLUTION = 1000;

/**
 * Returns a path for a temporary file, in the folder of `path`, so that a rename can replace `path` atomically. `path`
 * may be a `file:` URL.
 *
 * @example Another program's output, under its name when it is complete
 * ```ts
 * import { temporaryPath } from "@millrace/streams/files";
 * import { rename, writeFile } from "node:fs/promises";
 *
 * const temporary = temporaryPath("uploads/report.txt");
 * await writeFile(temporary, "as another program would write it");
 * await rename(temporary, "uploads/report.txt");
 * ```
 */
export function temporaryPath(path: string | URL): string {
  refuseOptions("temporaryPath()", arguments[1]);
  return join(dirname(pathOf(path)), `${ownBeginning()}${crypto.randomUUID()}.tmp`);
}

/** Returns the beginning of the names of this process's temporary files. */
function ownBeginning(): string {
  return `.millrace-${pidNamespace()}.${process.pid}-${mainThreadStart()}-`;
}

/** Returns a path unchanged, or that of a `file:` URL. */
function pathOf(path: string | URL): string {
  return typeof path === "string" ? path : filePath(path);
}

/**
 * Whether the file or folder at a path, or `file:` URL, is a temporary one whose process ended without removing it.
 * Outside Linux, another process with the same id counts as that process. Whether a process on another machine or in
 * another container runs is unknown: its files count as abandoned after a day without changes. So do files of earlier
 * versions, whose names lack the process or its start time.
 *
 * @example A file that this process is writing is not abandoned
 * ```ts
 * import { isAbandonedTemporary, temporaryPath } from "@millrace/streams/files";
 * import { writeFile } from "node:fs/promises";
 *
 * const path = temporaryPath("uploads/film.mp4");
 * await writeFile(path, "the first part");
 * console.log(await isAbandonedTemporary(path)); // false
 * ```
 */
export async function isAbandonedTemporary(file: string | URL): Promise<boolean> {
  refuseOptions("isAbandonedTemporary()", arguments[1]);
  const path = pathOf(file);
  const name = basename(path);
  if (!isTemporaryName(name)) return false;
  const [, space, digits, start] = TEMPORARY.exec(name) ?? [];
  if (space !== pidNamespace()) return await lastTouched(path) < Date.now() - DAY;
  const id = Number(digits);
  const isAlive = isThreadAlive(id, start && `${id}.${start}`);
  if (isAlive !== undefined) return !isAlive;
  // Another process may have the id now: in a container, it is often this one.
  if (id === process.pid) return await lastTouched(path) < processStart() - MTIME_RESOLUTION;
  return start === undefined && await lastTouched(path) < Date.now() - DAY;
}

/**
 * Returns the time in ms since 1970 at which a file, or any entry of a folder, was last changed: the change time of its
 * status, since the modification time may be set. FAT has no change time, which is then in 1601. Infinity if it disappears
 * meanwhile.
 */
async function lastTouched(path: string): Promise<number> {
  const status = await lstat(path).catch(() => undefined);
  if (status === undefined) return Infinity;
  let touched = status.ctimeMs > 0 ? status.ctimeMs : Math.max(status.mtimeMs, status.birthtimeMs);
  if (!status.isDirectory()) return touched;
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) return Infinity;
  for (const name of names) touched = Math.max(touched, await lastTouched(join(path, name)));
  return touched;
}

/** The number of entries to read at a time: an upload folder may have a million. */
const ENTRIES = 256;

/**
 * Removes the temporary files and folders of killed processes in a folder, but not in folders below it: see {@linkcode
 * isAbandonedTemporary}. A folder stays if another user owns it, owns a folder in it, or may rename it.
 *
 * @param directory The folder's path, or its `file:` URL.
 * @returns the number removed.
 * @throws {Error} of the file system about the folder, or, once all others are removed, about the first file that could
 * not be removed; with its `code`.
 * @example When a server starts
 * ```ts
 * import { removeAbandonedTemporaries } from "@millrace/streams/files";
 *
 * const removed = await removeAbandonedTemporaries("uploads");
 * console.log(removed); // 0
 * ```
 */
export async function removeAbandonedTemporaries(directory: string | URL): Promise<number> {
  refuseOptions("removeAbandonedTemporaries()", arguments[1]);
  const folder = filePath(directory, "the directory");
  const entries = await opendir(folder, { bufferSize: ENTRIES }).catch(
    failing("read the directory", pathOf(directory)),
  );
  removeLeftovers();
  let removed = 0;
  let failure: Error | undefined;
  for await (const { name } of entries) {
    const path = join(folder, name);
    try {
      if (await isAbandonedTemporary(path) && await removeAbandoned(path)) removed++;
    } catch (error) {
      if (codeOf(error) === "ENOENT") continue; // another process was faster
      failure ??= fileFailure("remove", path, error);
    }
  }
  if (failure) throw failure;
  return removed;
}

/**
 * Removes a file, a link, or a folder that contains no folder of another user; returns whether it did. A folder that
 * other users may rename stays, since they could give any folder a temporary name. A link could replace a folder while
 * it is removed by its path: so it is first closed to other users, and on Linux accessed by its descriptor.
 *
 * @throws {Error} of the file system, with its `code`: `ENOENT` if another process is removing it.
 */
async function removeAbandoned(path: string): Promise<boolean> {
  const isFolder = (await lstat(path)).isDirectory();
  if (!isFolder) await whileRefused(() => unlink(path));
  if (!isFolder) return true;
  const own = temporaryPath(path);
  if (process.platform === "win32") {
    await renameFile(path, own);
    await rm(own, { recursive: true, force: true });
    return true;
  }
  return await withFolder(path, async (folder) => {
    const isFound = showsOpenFiles();
    if (!await isExclusive(isFound ? `${folder.ownPath}/..` : dirname(path))) return false;
    if (!await closeToOthers(folder, isFound ? folder.ownPath : path)) return false;
    let at = own;
    await renameFile(path, own).catch((error) => { // ensures that only one process removes it
      if (codeOf(error) !== "EXDEV") throw error;
      at = path; // overlayfs renames no folder of a lower layer
    });
    const inside = isFound ? folder.ownPath : at;
    for (const name of await readdir(inside)) await rm(join(inside, name), { recursive: true, force: true });
    await rmdir(at);
    return true;
  });
}

async function withFolder(path: string, use: (folder: OpenFile) => Promise<boolean>): Promise<boolean> {
  const folder = await OpenFile.open(path, (constants.O_DIRECTORY ?? 0) | linkFlag(false));
  return await use(folder).finally(() => folder.close());
}

/** Revokes the permission to change folders from all other users; returns false if another user owns one. */
async function closeToOthers(folder: OpenFile, path: string): Promise<boolean> {
  const { mode, uid } = folder.status();
  if (uid !== userNumber()) return false;
  if ((mode & 0o022) !== 0) folder.chmod(0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory() && !await withFolder(inner, (folder) => closeToOthers(folder, inner))) return false;
  }
  return true;
}

/** Whether only this process's user and the superuser can change names in a folder. */
async function isExclusive(path: string): Promise<boolean> {
  const { mode, uid } = await stat(path);
  return [0, userNumber()].includes(uid) && ((mode & 0o1000) !== 0 || (mode & 0o022) === 0);
}

/** @throws {TypeError} if a temporary file, which is overwritten, is one of the others, a link, or not a file. */
export async function requireOther(temporary: string, others: Readonly<Record<string, string>>): Promise<void> {
  const identity = async (path: string): Promise<string> => {
    const status = await stat(path, { bigint: true }).catch(() => undefined);
    if (status === undefined) return resolve(path);
    const { dev, ino, size, mtimeNs, birthtimeNs } = status;
    return isSureNumber(ino) ? `${dev}:${ino}` : `${dev}:${ino} ${size} ${mtimeNs} ${birthtimeNs}`;
  };
  const own = await identity(temporary);
  for (const [name, path] of Object.entries(others)) {
    if (await identity(path) !== own) continue;
    throw new TypeError(`temporary ${temporary} is the ${name} itself: name a file that may be written over`);
  }
  const status = await lstat(temporary).catch(() => undefined);
  if (status === undefined || status.isFile()) return;
  const kind = status.isSymbolicLink() ? "a symbolic link" : "no regular file";
  throw new TypeError(`temporary ${temporary} is ${kind}: name a file of its own`);
}

/** Opens a caller's temporary file. @throws {Error} `EINVAL` if it is no longer a regular file, such as a device or a pipe. */
export async function openWrittenOver(path: string, flags: number, options: OpenFileOptions): Promise<OpenFile> {
  const { O_NONBLOCK = 0, O_RDWR, O_TRUNC } = constants;
  const file = await OpenFile.open(path, O_NONBLOCK | O_RDWR | O_TRUNC | linkFlag(false) | flags, options);
  if (file.status().isFile()) return file;
  await file.close();
  throw Object.assign(new Error(`the temporary file ${path} is no regular file`), { code: "EINVAL" });
}

/** The maximum number of remembered folders: beyond it, the oldest is forgotten. */
const MAX_REMEMBERED_FOLDERS = 1000;

const swept = new Set<string>();

/** Removes, in the background, files of killed processes in a folder, at the first call for it. Never fails. */
export function removeAbandonedOnce(directory: string): void {
  if (swept.has(directory)) return;
  swept.add(directory);
  if (swept.size > MAX_REMEMBERED_FOLDERS) swept.delete(swept.values().next().value!);
  removeAbandonedTemporaries(directory).catch(() => {});
}

/** Removes a temporary file; returns whether none is left. Never rejects: a file of this process is removed later. */
export async function removeTemporary(path: string, remove: (path: string) => void = unlink): Promise<boolean> {
  try {
    await whileRefused(() => remove(path));
  } catch (error) {
    if (!isMissing(error) && basename(path).startsWith(ownBeginning())) removeLater(path);
    return isMissing(error);
  }
  return true;
}

/**
 * Opens a file without a name for writing and reading. If the system requires a name for open files, the file keeps a
 * temporary one, which a sweep removes.
 *
 * @param directory The folder on whose disk the file is stored.
 */
export async function openUnnamed(directory: string): Promise<OpenFile> {
  const path = temporaryPath(join(directory, "unnamed"));
  removeAbandonedOnce(directory);
  const file = await OpenFile.open(path, "wx+", { mode: 0o600 });
  await removeTemporary(path);
  return file;
}

/** A folder for temporary files: its disposal removes it with all its content, and never rejects. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Creates a folder that only this user may enter. @throws {Error} with its name and the system's `code`. */
export async function temporaryDirectory(directory: string = tmpdir()): Promise<TemporaryDirectory> {
  const path = temporaryPath(join(directory, "folder"));
  removeAbandonedOnce(directory);
  await mkdir(path, { mode: 0o700 }).catch(failing("make the directory", path));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }).catch(() => {}) };
}
