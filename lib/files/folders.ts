import { constants, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, fileFailure } from "./failure.ts";
import { OpenFile, showsOpenFiles } from "./open_file.ts";

/**
 * Makes a directory, and those above it as far as they are missing; looks at none above one that can be made, which the
 * process may not be permitted to. A failure names the directory that could not be made: Node's own way says of a
 * read-only file system that a directory is missing, and never ends below /proc.
 */
export function makeDirectorySync(path: string): void {
  if (isDirectory(path)) return;
  let failure = tryToMake(path);
  const above = dirname(path);
  if (isOfFolderAbove(failure) && above !== path) {
    makeDirectorySync(above);
    failure = tryToMake(path);
  }
  if (failure === undefined || isDirectory(path)) return; // another process was faster
  throw fileFailure("make the directory", path, failure);
}

/** Makes a directory as {@linkcode makeDirectorySync} does; rejects where that throws. */
export function makeDirectory(path: string): Promise<void> {
  return new Promise((resolve) => resolve(makeDirectorySync(path)));
}

function tryToMake(path: string): unknown {
  try {
    mkdirSync(path);
    return undefined;
  } catch (error) {
    return error;
  }
}

function isOfFolderAbove(failure: unknown): boolean {
  const { code } = (failure ?? {}) as { code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The folders that are held, by their real paths. */
const all = new Map<string, HeldFolder>();

/** An open folder: paths through it reach the same folder, whatever gets its name. Only Linux has such paths. */
export class HeldFolder {
  /** A path to the folder, for as long as it is held. */
  readonly path: string;
  /** Its path without links, when it was opened. */
  readonly realPath: string;
  readonly #file: OpenFile;
  #holders = 1;

  private constructor(file: OpenFile, realPath: string) {
    this.#file = file;
    this.path = file.ownPath;
    this.realPath = realPath;
  }

  /** Opens the folder at `path`; undefined where it cannot be held: its name is all that there is then. */
  static open(path: string): HeldFolder | undefined {
    if (!showsOpenFiles()) return undefined;
    let file: OpenFile;
    try {
      file = OpenFile.openNow(path, constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      if (codeOf(error) === "EACCES") return undefined; // it may be entered, but not read
      throw error;
    }
    const realPath = readlinkSync(file.ownPath);
    const known = all.get(realPath);
    if (known === undefined || known.#file.status().ino !== file.status().ino) {
      const folder = new HeldFolder(file, realPath);
      all.set(realPath, folder);
      return folder;
    }
    void file.close();
    known.#holders++;
    return known;
  }

  /** Ends one hold of the folder, each of which has to be ended once. */
  release(): void {
    if (--this.#holders > 0) return;
    if (all.get(this.realPath) === this) all.delete(this.realPath);
    void this.#file.close();
  }
}
