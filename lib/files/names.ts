import { existsSync, realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, isAbsolute, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isPermitted } from "../runtime/mod.ts";
import { changed, type Member, refuseOptions, wrongType } from "../streams/internal.ts";

/** The names of temporary files: process namespace, id and start time; earlier names lack the first and the last. */
export const TEMPORARY: RegExp = /^\.millrace-(?:([0-9a-f]{8})\.)?(\d+)-(?:(\d+)-(?=[0-9a-f]{8}-))?[0-9a-f-]+\.tmp$/;
/** The names of earlier versions without a process: parts of objects, the next file of a series, and its next record. */
const FORMER = /^\.millrace-part-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^\..+\.millrace(?:-new|-next)$/;

/**
 * Whether `name`, without a path, is that of a temporary file: by {@linkcode temporaryPath}, or by an earlier version
 * of this package.
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
  refuseOptions("isTemporaryName()", arguments[1]);
  return TEMPORARY.test(name) || FORMER.test(name);
}

/** The suffix of a lock file's name: process namespace, process, thread (not in version 0.2.0), a random number, and a note. */
export const LOCK_IDENTITY: string =
  /([0-9a-f]{8})\.(\d+)(?:\.(\d+\.\d+))?-[0-9a-f]{8}(?:-[0-9a-f-]{27})?(-wanted|-lost)?$/.source;
const LOCK = RegExp(String.raw`^\.(?:.+\.)?millrace-lock-${LOCK_IDENTITY}`);

/** Whether `name`, without a path, is that of a lock's file. */
export function isLockName(name: string): boolean {
  return LOCK.test(name);
}

/** Returns a schema member for a path or `file:` URL, whose checked value is an absolute path. */
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

/** Returns a schema member for a path that `member` checks, whose value is an absolute path. */
export function lasting(member: Member<string, undefined>): Member<string, undefined> {
  return changed(member, lastingPath);
}

const anyPath = /* @__PURE__ */ pathOption();

/** Returns the absolute path that a caller names. @throws {TypeError} if it is neither a string nor a `file:` URL. */
export function filePath(path: string | URL, what = "the path"): string {
  return anyPath.check(path, what);
}

/**
 * Returns a path that does not depend on the working directory, unless that is unreadable. The path can be joined and
 * compared as text: `..` after an existing folder is resolved.
 *
 * @param from The folder that the path is relative to. Default: the working directory.
 */
export function lastingPath(path: string, from?: string): string {
  if (typeof path !== "string" || path === "") return path;
  const mayAsk = from !== undefined || isPermitted("workingFolder");
  // Windows resolves all paths as text; one such as `\logs` is relative to the folder's drive.
  if (process.platform === "win32") {
    if (!mayAsk || /^(?:[a-z]:|[\\/])[\\/]/i.test(path)) return path;
    const whole = resolve(from ?? "", path);
    // Keeps the end that makes it a folder's path, not a file's.
    return isFolderPath(path) && !isFolderPath(whole) ? whole + sep : whole;
  }
  return withoutParents(isAbsolute(path) || !mayAsk ? path : `${from ?? process.cwd()}${sep}${path}`);
}

/** Whether the end of a path shows a folder. Windows drops a final separator or dot, which POSIX refuses. */
export function isFolderPath(path: string): boolean {
  return process.platform === "win32" ? /[\\/]\.{0,2}$/.test(path) : path.endsWith("/");
}

/**
 * Returns a path without links. On Windows, parts get their original case, but volumes outside its mount manager, such
 * as RAM disks, are unsupported: there links are resolved one by one.
 */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (process.platform !== "win32") throw error;
    return realpathSync(path);
  }
}

/** Returns a path without links like {@linkcode realPath}, without blocking the thread. */
export async function realPathOf(path: string): Promise<string> {
  return await realpath(path).catch((error) => {
    if (process.platform !== "win32") throw error;
    return realpathSync(path);
  });
}

/** Returns a name without the code points that some file systems ignore: HFS+, and Linux where it ignores case. */
function withoutIgnorable(name: string): string {
  return name.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

/** Returns the form of a name in which dots and reserved beginnings are looked for: ZFS may compare names in it. */
export function compatibleName(name: string): string {
  return withoutIgnorable(name).normalize("NFKC");
}

/**
 * Folds a name or path: names that a file system may treat as the same, by case, Unicode normalization and ignorable
 * code points, fold to one form. Different names may have it, too.
 */
export function foldedName(name: string): string {
  const composed = withoutIgnorable(name).normalize("NFC");
  return composed.toUpperCase().normalize("NFC"); // in lower case, a sigma has two forms
}

/**
 * Returns the name in a folder's listing by which the file system finds the file at a path. It differs from the path's
 * name only if the file system treats both as the same. Real paths do not show that on all disks.
 */
export function listedName(path: string, names: readonly string[]): string {
  const name = basename(path);
  if (names.includes(name)) return name;
  const folded = foldedName(name);
  const other = names.find((each) => foldedName(each) === folded);
  return other !== undefined && existsSync(path) ? other : name;
}

/** Names of devices on Windows in every folder, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** Characters with a meaning on Windows (streams, short names, patterns), and control characters. */
// deno-lint-ignore no-control-regex
const RESERVED = /[<>:"|?*\u0000-\u001f]/;

/** The maximum UTF-16 code units of a part of a path on Windows, which reports a missing folder for longer ones. */
export const MAX_NAME_LENGTH = 255;

/** Returns the reason why a part of a path cannot be a file's name on Windows, in words; undefined if it can. */
export function refusedOnWindows(part: string): string | undefined {
  if (RESERVED.test(part)) return "the name has a character that Windows reserves";
  if (/[. ]$/.test(part)) return "Windows drops the full stops and spaces that the name ends with";
  if (DEVICE.test(part)) return "Windows has a device of that name";
  if (part.length > MAX_NAME_LENGTH) return "the name is too long";
  return undefined;
}

/** Replaces a path up to its last `..` by the real path: for the system, `..` after a link is the parent of the link's target. */
function withoutParents(path: string): string {
  const [above] = /^.*\/\.\.(?=\/|$)/s.exec(path) ?? [];
  if (above === undefined) return path;
  try {
    return realPath(above) + path.slice(above.length);
  } catch {
    return path; // a later system call reports the reason
  }
}
