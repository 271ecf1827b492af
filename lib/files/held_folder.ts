import { constants, existsSync, readlinkSync } from "node:fs";
import process from "node:process";
import { isPermitted } from "../runtime/mod.ts";
import { codeOf } from "./failure.ts";
import { OpenFile } from "./open_file.ts";

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
    if (process.platform !== "linux" || !isPermitted("systemFiles") || !existsSync("/proc/self/fd")) return undefined;
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
