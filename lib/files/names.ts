import { existsSync, realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, isAbsolute, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isPermitted } from "../runtime/mod.ts";
import { changed, type Member, wrongType } from "../streams/internal.ts";

/** The space, id and start time of the process in a name; earlier names lack the first and the last. */
export const TEMPORARY: RegExp = /^\.millrace-(?:([0-9a-f]{8})\.)?(\d+)-(?:(\d+)-(?=[0-9a-f]{8}-))?[0-9a-f-]+\.tmp$/;
/** The names of earlier versions that tell no process: parts of objects, a series' next file, and its next record. */
const FORMER = /^\.millrace-part-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^\..+\.millrace(?:-new|-next)$/;

/**
 * Whether `name` is one that {@linkcode temporaryPath} gives, or that earlier versions gave temporary files. A name, not a
 * path.
 *
 * @example List a folder without what is being written
 * ```ts
 * import { isTemporaryName } from "@millrace/streams/files";
 * import { readdir } from "node:fs/promises";
 *
 * const names = (await readdir("uploads")).filter((name) => !isTemporaryName(name));
 * ```
 */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name) || FORMER.test(name);
}

/** The end of a lock file's name: process space, process, its thread (not in version 0.2.0), a random number, and what is said of it. */
export const LOCK_IDENTITY: string =
  /([0-9a-f]{8})\.(\d+)(?:\.(\d+\.\d+))?-[0-9a-f]{8}(?:-[0-9a-f-]{27})?(-wanted|-lost)?$/.source;
const LOCK = RegExp(String.raw`^\.(?:.+\.)?millrace-lock-${LOCK_IDENTITY}`);

/** Whether `name` is that of a lock's file. A name, not a path. */
export function isLockName(name: string): boolean {
  return LOCK.test(name);
}

/** An option that is a path, or a `file:` URL; what is checked, and returned, is a path that stays the same. */
export function pathOption(): Member<string, undefined> {
  const expected = "a path or a file: URL";
  return {
    fallback: undefined,
    expected,
    check(value, name) {
      if (typeof value === "string" && value !== "") return lastingPath(value);
      if (value instanceof URL && value.protocol === "file:") return fileURLToPath(value);
      throw wrongType(name, expected, value instanceof URL ? value.href : value);
    },
  };
}

/** An option that is a path, checked by `member`; what is returned stays the same. */
export function lasting(member: Member<string, undefined>): Member<string, undefined> {
  return changed(member, lastingPath);
}

const anyPath = /* @__PURE__ */ pathOption();

/** The path that a caller names, which stays the same. @throws {TypeError} if it is neither a string nor a `file:` URL. */
export function filePath(path: string | URL, what = "the path"): string {
  return anyPath.check(path, what);
}

/**
 * Returns a path that stays the same when the process goes elsewhere, unless that may not be known; and that may be joined
 * and compared as its words say: no `..` is left behind a folder that is there.
 *
 * @param from The folder that it is relative to. Default: the one where the process is.
 */
export function lastingPath(path: string, from?: string): string {
  if (typeof path !== "string" || path === "") return path;
  const mayAsk = from !== undefined || isPermitted("workingFolder");
  // Windows takes all paths as their words say; one as `\logs` is relative to the drive of the folder.
  if (process.platform === "win32") {
    if (!mayAsk || /^(?:[a-z]:|[\\/])[\\/]/i.test(path)) return path;
    const whole = resolve(from ?? "", path);
    return isFolderPath(path) && !isFolderPath(whole) ? whole + sep : whole; // no file's path, and it stays none
  }
  return withoutParents(isAbsolute(path) || !mayAsk ? path : `${from ?? process.cwd()}${sep}${path}`);
}

/** Whether a path is a folder's by its words. Windows drops what POSIX refuses: a separator at the end, or a dot. */
export function isFolderPath(path: string): boolean {
  return process.platform === "win32" ? /[\\/]\.{0,2}$/.test(path) : path.endsWith("/");
}

/**
 * Returns a path without links. Windows gives its parts as they were made, but none of volumes that are not mounted by its
 * mount manager, as RAM disks: links are resolved one by one there.
 */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (process.platform !== "win32") throw error;
    return realpathSync(path);
  }
}

/** Does what {@linkcode realPath} does, without blocking the thread. */
export async function realPathOf(path: string): Promise<string> {
  return await realpath(path).catch((error) => {
    if (process.platform !== "win32") throw error;
    return realpathSync(path);
  });
}

/** Returns a name without the code points that some file systems ignore: HFS+, and Linux where it ignores case. */
export function withoutIgnorable(name: string): string {
  return name.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

/**
 * Returns a form of a name, or path, that all have which a file system may take for one: whatever their case, Unicode
 * normalization and ignorable code points. Others may have it, too.
 */
export function foldedName(name: string): string {
  const composed = withoutIgnorable(name).normalize("NFC");
  return composed.toUpperCase().normalize("NFC"); // not in lower case: a sigma has two such forms
}

/**
 * Returns the name in the listing of a folder by which the file system finds the file at a path: another one than the
 * path's only where the system takes both for one. Real paths do not tell that on all disks.
 */
export function listedName(path: string, names: readonly string[]): string {
  const name = basename(path);
  if (names.includes(name)) return name;
  const folded = foldedName(name);
  const other = names.find((each) => foldedName(each) === folded);
  return other !== undefined && existsSync(path) ? other : name;
}

/** Names that are devices on Windows in every folder, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** Characters with a meaning on Windows (streams, short names, patterns), and control characters. */
// deno-lint-ignore no-control-regex
const RESERVED = /[<>:"|?*\u0000-\u001f]/;

/** The maximum UTF-16 code units of a part of a path on Windows, which reports a missing folder for longer ones. */
const MAX_NAME_LENGTH = 255;

/** Returns the reason why a part of a path cannot be a file's name on Windows, in words; undefined if it can. */
export function refusedOnWindows(part: string): string | undefined {
  if (RESERVED.test(part)) return "the name has a character that Windows reserves";
  if (/[. ]$/.test(part)) return "Windows drops the full stops and spaces that the name ends with";
  if (DEVICE.test(part)) return "Windows has a device of that name";
  if (part.length > MAX_NAME_LENGTH) return "the name is too long";
  return undefined;
}

/** Replaces a path up to its last `..` by the real one: the system takes that to be above what a link to a folder leads to. */
function withoutParents(path: string): string {
  const [above] = /^.*\/\.\.(?=\/|$)/s.exec(path) ?? [];
  if (above === undefined) return path;
  try {
    return realPath(above) + path.slice(above.length);
  } catch {
    return path; // the system will say why
  }
}
