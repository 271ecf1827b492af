import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  compatibleName,
  fileFailure,
  foldedName,
  HeldFolder,
  holds,
  lastingPath,
  type NameOptions,
  type ProcessLock,
  realPath,
  refusedOnWindows,
} from "../../files/internal.ts";
import { isTemporaryName } from "../../files/mod.ts";
import { quoted, UploadError } from "../body/upload_error.ts";

function isWindows(): boolean {
  return process.platform === "win32";
}

/** Returns the absolute path of a file, with all links on the way resolved; it must be inside the root. Its last part may be a link. */
export function containedPath(destination: string | URL, root: string | URL | undefined): string {
  if (root === undefined) {
    const path = requirePlain("destination", destination);
    if (!isFolderPath(path)) return resolve(lastingPath(path));
    throw new TypeError(`the destination must be the path of a file, not of a folder: ${JSON.stringify(path)}`);
  }
  const folder = resolve(requirePlain("root", root));
  const given = typeof destination === "string" ? destination : pathOf("destination", destination);
  const name = shownName(given, folder);
  const path = insideOf(folder, given, name);
  if (dirname(path) !== folder) requireInside(folder, dirname(path), name);
  requireOwnNames(folder, path, name);
  return path;
}

/** The location of a file to write, which stays in its root while this object is open. */
export interface ContainedPlace {
  readonly path: string;
  /** A path to the file through its open folder, if the system allows that, so that later links do not affect it. */
  readonly reached: string;
  /** Resolves the links again, if the folder cannot be kept open. @throws {UploadError} `OUTSIDE_ROOT`. */
  readonly verify: (() => void) | undefined;
  release(): void;
}

/** Keeps a path's folder open if the system can; elsewhere `verify()` checks the open file, and its name, again. */
export function containedPlace(destination: string | URL, root: string | URL | undefined): ContainedPlace {
  const path = containedPath(destination, root);
  const parent = dirname(path);
  const folder = root === undefined ? parent : resolve(requirePlain("root", root));
  const plain = { path, reached: path, verify: undefined, release() {} };
  if (parent === folder) return plain;
  const name = shownName(path, folder);
  let held: HeldFolder | undefined;
  try {
    held = HeldFolder.open(parent);
  } catch (error) {
    throw fileFailure("create", path, error);
  }
  if (held === undefined) return { ...plain, verify: () => requireInside(folder, parent, name) };
  try {
    if (!holds(realRoot(folder), held.realPath)) throw outside(name);
  } catch (error) {
    held.release();
    throw error;
  }
  return { ...plain, reached: join(held.path, basename(path)), release: () => held.release() };
}

function requirePlain(what: string, value: string | URL): string {
  const path = pathOf(what, value);
  if (path !== "" && !path.includes("\0")) return path;
  throw new TypeError(`the ${what} must be a path, not ${JSON.stringify(path)}`);
}

function pathOf(what: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (!(value instanceof URL)) {
    throw new TypeError(`the ${what} must be a path or a file: URL, not ${String(value)}`);
  }
  if (value.protocol !== "file:") throw new TypeError(`the ${what} must be a file: URL, not ${value.href}`);
  return fileURLToPath(value);
}

function isFolderPath(path: string): boolean {
  const last = path.split(isWindows() ? /[\\/]/ : "/").at(-1);
  return last === "" || last === "." || last === "..";
}

function insideOf(folder: string, given: string, name: string): string {
  if (given === "") throw new UploadError("BAD_NAME", "Cannot save a file without a name");
  if (given.includes("\0")) throw refused("BAD_NAME", name, "the name has a zero byte");
  // The system would store it under another name, which may belong to another file.
  if (!given.isWellFormed()) throw refused("BAD_NAME", name, "the name is no Unicode text");
  // Checked before the path is resolved, which would drop a drive letter.
  if (isWindows() && !isAbsolute(given)) requireWindowsName(given.split(/[\\/]/), name);
  const below = relative(folder, resolve(folder, given));
  if (below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) throw outside(name);
  if (below === "" || isFolderPath(given)) throw refused("BAD_NAME", name, "the name is one of a folder");
  if (isWindows()) requireWindowsName(below.split(sep), name);
  if (isTemporaryName(compatibleName(basename(below)).replace(/(?<![. ])[. ]+$/, ""))) { // vfat drops these ends
    throw refused("BAD_NAME", name, "the name is kept for temporary files");
  }
  return join(folder, below);
}

function requireWindowsName(parts: readonly string[], name: string): void {
  for (const part of parts) {
    const fault = part === "." || part === ".." ? undefined : refusedOnWindows(part);
    if (fault !== undefined) throw refused("BAD_NAME", name, fault);
  }
}

/** Resolves links on the way: all existing folders must be inside the root. */
function requireInside(folder: string, parent: string, name: string): void {
  const real = realRoot(folder);
  for (let path = parent; path !== folder; path = dirname(path)) {
    const found = realFolder(path, name);
    if (found === undefined) continue;
    if (holds(real, found)) return;
    throw outside(name);
  }
}

/** Refuses existing second names of other files, such as HTACCE~1 for .htaccess: Linux finds them on disks of Windows, too. */
function requireOwnNames(folder: string, path: string, name: string): void {
  for (let each = path; each !== folder; each = dirname(each)) {
    if (!isWindows() && !SHORT.test(basename(each))) continue;
    const status = lstatSync(each, { throwIfNoEntry: false });
    if (status === undefined || status.isSymbolicLink()) continue;
    if (foldedName(ownName(each)) === foldedName(basename(each))) continue;
    throw refused("BAD_NAME", name, "it is the short name of another file");
  }
}

/** A name that may be a short one, of at most eight characters and three behind a dot. */
const SHORT = /^(?=[^.]{3,8}(?:\.|$))[^.]+~\d+(?:\.[^.]{0,3})?$/;

/** Returns the original name of a file; empty if it is unknown and the given name may be a second one. */
function ownName(path: string): string {
  const given = basename(path);
  try {
    if (isWindows()) return basename(realpathSync.native(path));
    const names = readdirSync(dirname(path));
    return names.includes(given) ? given : names.find((each) => foldedName(each) === foldedName(given)) ?? "";
  } catch {
    return SHORT.test(given) ? "" : given;
  }
}

function realRoot(folder: string): string {
  try {
    return realPath(folder);
  } catch (error) {
    throw fileFailure("open", folder, error);
  }
}

function realFolder(path: string, name: string): string | undefined {
  try {
    return realPath(path);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENAMETOOLONG") throw refused("BAD_NAME", name, "the name is too long", error);
    if (code !== "ENOENT") throw fileFailure("open", path, error);
    // A link to a missing folder, which may be created later.
    if (lstatSync(path, { throwIfNoEntry: false })) throw outside(name);
    return undefined;
  }
}

function outside(name: string): UploadError {
  return refused("OUTSIDE_ROOT", name, "the path leads out of the folder for uploads");
}

function refused(code: "BAD_NAME" | "OUTSIDE_ROOT", name: string, reason: string, cause?: unknown): UploadError {
  return new UploadError(code, `Cannot save ${name}: ${reason}`, cause === undefined ? undefined : { cause });
}

/** Returns the name of a file for messages: as given by the sender, relative to the root; without a root only the last part. */
export function shownName(given: string, root: string | undefined): string {
  if (root === undefined) return quoted(basename(given));
  const below = isAbsolute(given) ? relative(resolve(root), given) : given;
  return quoted(below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below) ? given : below);
}

/** A sender's conditions for the name of its file, which must hold when the file takes the name. */
export interface Claim {
  /** Makes the lock that processes with conditions acquire in turn; missing for a bucket, whose store checks conditions. */
  lock?(): ProcessLock;
  /** Called with the status of the file that has the name, before it is replaced. @throws {unknown} to prevent the replacement. */
  check(status: Pick<Stats, "mtimeMs"> & { readonly etag?: string } | undefined): void;
}

/** Gives a file its name in its root while its conditions hold. @throws {unknown} errors of checks, unchanged. */
export async function takePlace(
  { reached, verify }: ContainedPlace,
  claim: Claim | undefined,
  take: (before: NameOptions["before"]) => Promise<void>,
): Promise<void> {
  if (claim === undefined && verify === undefined) return await take(undefined);
  const lock = claim?.lock?.();
  let refusal: { readonly error: unknown } | undefined;
  try {
    await lock?.take();
    await take(() => {
      try {
        verify?.();
        claim?.check(lstatSync(reached, { throwIfNoEntry: false }));
      } catch (error) {
        refusal = { error };
        throw error;
      }
    });
  } catch (error) {
    throw refusal === undefined ? error : refusal.error;
  } finally {
    lock?.release();
  }
}
