import { constants, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, fileFailure } from "./failure.ts";
import { isOneFile, OpenFile, showsOpenFiles } from "./open_file.ts";

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
      const isOfFolderAbove = ["ENOENT", "ENOTDIR"].includes(codeOf(error)!);
      if (isLast || !isOfFolderAbove) throw fileFailure("make the directory", path, error);
      makeDirectorySync(above);
    }
  }
}

/** Creates a directory like {@linkcode makeDirectorySync}; rejects instead of throwing. */
export function makeDirectory(path: string): Promise<void> {
  return new Promise((resolve) => resolve(makeDirectorySync(path)));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
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
    void file.close();
    known.#holders++;
    return known;
  }

  /** Releases one reference to the folder; each must be released once. */
  release(): void {
    if (--this.#holders > 0) return;
    if (all.get(this.realPath) === this) all.delete(this.realPath);
    void this.#file.close();
  }
}
