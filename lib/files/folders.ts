import { type BigIntStats, constants, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { mayRead } from "../runtime/mod.ts";
import { codeOf, fileFailure, isMissing } from "./failure.ts";
import { foldedName } from "./names.ts";
import { isOneFile, isSureNumber, OpenFile, showsOpenFiles } from "./open_file.ts";

/**
 * Creates a directory and its missing ancestors. Ancestors of an existing directory are not accessed, since the
 * process may lack permission. A failure names the directory that could not be created: Node's own function reports a
 * missing directory on a read-only file system, and never ends below /proc.
 */
export function makeDirectorySync(path: string): void {
  const above = dirname(path);
  for (let isLast = above === path; !isDirectory(path); isLast = true) {
    try {
      return void mkdirSync(path);
    } catch (error) {
      if (isDirectory(path)) return; // another process was faster
      if (isLast || !isMissing(error)) throw fileFailure("make the directory", path, error);
      makeDirectorySync(above);
    }
  }
}

/** Creates a directory like {@linkcode makeDirectorySync}; rejects instead of throwing. */
export function makeDirectory(path: string): Promise<void> {
  return new Promise((resolve) => resolve(makeDirectorySync(path)));
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a folder is `path` or contains it. Short names, mounts and case give one folder several real paths. */
export function holds(folder: string, path: string): boolean {
  if (isWithin(path, folder) || isOneFolder(path, folder)) return true;
  return path !== dirname(path) && holds(folder, dirname(path));
}

export function isOneFolder(path: string, other: string): boolean {
  if (path === other) return true;
  const [one, another] = [statusOf(path), statusOf(other)];
  if (one === undefined || another === undefined || one.dev !== another.dev || one.ino !== another.ino) return false;
  return isSureNumber(one.ino) || foldedName(path) === foldedName(other);
}

/** Returns the status of an existing folder that this process may read: Deno would prompt for others. */
function statusOf(path: string): BigIntStats | undefined {
  try {
    return mayRead(path) ? statSync(path, { bigint: true }) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `path` is `folder` or lies below it, by their words; both are real paths. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(sep)[0] !== "..";
}

/** The folders that are kept open, by their real paths. */
const all = new Map<string, HeldFolder>();

/** An open folder: paths through it reach the same folder, whatever has its name. Only Linux has such paths. */
export class HeldFolder {
  /** A path to the folder, valid while it is kept open. */
  readonly path: string;
  /** The folder's path without links, at the time when it was opened. */
  readonly realPath: string;
  readonly #file: OpenFile;
  #holders = 1;

  private constructor(file: OpenFile, realPath: string) {
    this.#file = file;
    this.path = file.ownPath;
    this.realPath = realPath;
  }

  /** Opens the folder at `path`; undefined if it cannot be kept open, so that only its name is usable. */
  static open(path: string): HeldFolder | undefined {
    if (!showsOpenFiles()) return undefined;
    let file: OpenFile;
    try {
      file = OpenFile.openNow(path, constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      if (codeOf(error) === "EACCES") return undefined; // the folder may be entered, but not read
      throw error;
    }
    const realPath = readlinkSync(file.ownPath);
    const known = all.get(realPath);
    if (known === undefined || !isOneFile(known.#file.exactStatus(), file.exactStatus())) {
      const folder = new HeldFolder(file, realPath);
      all.set(realPath, folder);
      return folder;
    }
    file.drop();
    known.#holders++;
    return known;
  }

  /** Releases one reference to the folder; each must be released once. */
  release(): void {
    if (--this.#holders > 0) return;
    if (all.get(this.realPath) === this) all.delete(this.realPath);
    this.#file.drop();
  }
}
