import { constants, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, fileFailure } from "./failure.ts";
import { isOneFile, OpenFile, showsOpenFiles } from "./open_file.ts";

/**
 * Makes a directory, and those above it as far as they are missing; looks at none above one that can be made, which the
 * process may not be permitted to. A failure names the directory that could not be made: Node's own way says of a
 * read-only file system that a directory is missing, and never ends below /proc.
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

/** Makes a directory as {@linkcode makeDirectorySync} does; rejects where that throws. */
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
    if (known === undefined || !isOneFile(known.#file.exactStatus(), file.exactStatus())) {
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
