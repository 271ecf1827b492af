import { constants } from "node:fs";
import { lstat, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  flushFolder,
  identityOf,
  ignoreMissing,
  keepAttributes,
  linkFlag,
  makeDirectory,
  OpenFile,
  removeFolderNow,
  removeIfSame,
  removeTemporary,
  takeName,
  writeAtomically,
} from "../files/internal.ts";
import { sleep } from "../timers/mod.ts";
import { type FormerRuns, LINK_ON_THE_WAY } from "./former_runs.ts";
import { FolderChangedError, Journal, type JournalEntry } from "./journal.ts";
import { manifestName, manifestText, readManifestText } from "./manifest.ts";
import { cannotWrite } from "./problem.ts";
import type { FileRecord } from "./records.ts";
import type { FoundFile } from "./walk.ts";

/** The maximum steps in ms of the clock that file systems use for times. */
const CLOCK_STEP = 20;

/** A temporary file that is complete except for its name. */
export interface Finished {
  /** The path of the temporary file, which `put()` removes even if it fails. */
  readonly temporary: string;
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly entry: JournalEntry;
  /** The original, whose permissions, owner and group the file gets. */
  readonly file: FoundFile;
  /** Whether the file may replace one that no run wrote. */
  readonly replacesAny: boolean;
}

/** Gives a file the permissions, owner and group of another one, as far as this process may. */
async function keepAttributesAt(path: string, { mode, uid, gid }: FoundFile): Promise<void> {
  const file = await OpenFile.open(path, constants.O_RDONLY | linkFlag(false));
  try {
    const own = file.status();
    keepAttributes(file, { mode, uid: uid ?? own.uid, gid: gid ?? own.gid });
  } finally {
    await file.close();
  }
}

/** The folder that a run writes to, and the only access to it: only bytes written by a run are replaced or removed. */
export class Target {
  readonly #former: FormerRuns;
  /** The real paths of folders with changed names. */
  readonly #changed = new Set<string>();
  #writing: Journal | undefined;

  constructor(former: FormerRuns) {
    this.#former = former;
  }

  /**
   * Acquires the folder for this run, before any change. `toRemove`: the run only removes files, so that a full disk is
   * no failure. Throws a FolderChangedError if another run has ended since, or an Error if one is in progress or the
   * folder is unwritable.
   */
  async begin(
    { toRemove = false, signal }: { readonly toRemove?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const { folder, isCopy, journal, text } = this.#former;
    await makeDirectory(folder.path).catch((error) => {
      throw cannotWrite(folder.path, error);
    });
    this.#writing = await Journal.open(folder, { copied: isCopy, toRemove, expected: journal?.length, signal });
    if (await readManifestText(folder.at(manifestName)) === text) return;
    this.#writing.leave();
    throw new FolderChangedError(folder);
  }

  async makeFolderOf(path: string): Promise<void> {
    const folder = dirname(path);
    const place = await this.#former.places.of(path);
    if (place && !place.isDirect) throw new Error(LINK_ON_THE_WAY);
    if (place || folder === ".") return;
    await this.makeFolderOf(folder);
    const occupant = await this.#former.lookAnew(folder);
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    await mkdir(await this.#former.placeOf(folder)).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
  }

  /**
   * Gives a finished file the name `path`; returns false if the same bytes have it already, and leaves the temporary
   * file. Throws an Error if any other object that no run wrote has the name; it stays.
   */
  async put(path: string, { temporary, sha256, entry, replacesAny, file }: Finished): Promise<boolean> {
    this.#former.forget(path);
    const occupant = await this.#former.lookAnew(path);
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    const isFree = occupant.kind === "nothing";
    if (!isFree && occupant.sha256 === sha256 && !occupant.isLink) return false;
    if (!isFree && !occupant.isOurs && !replacesAny) throw new Error(CAME_MEANWHILE);
    const place = await this.#former.placeOf(path);
    await keepAttributesAt(temporary, file);
    this.#writing!.append(entry);
    await takeName(temporary, place, { replace: !isFree, isLocked: true, atOnce: false }).catch((error) => {
      throw error.code === "EEXIST" ? new Error(CAME_MEANWHILE, { cause: error }) : error;
    });
    this.#former.note(place, sha256);
    this.#changed.add(dirname(place));
    return true;
  }

  /** Removes the file at `path`; returns whether it existed. Throws an Error if no run wrote the file, which then stays. */
  async remove(path: string): Promise<boolean> {
    const place = await this.#former.placeOf(path);
    // The identity of the file that is read next; a failure is reported by that read.
    const identity = await identityOf(place).catch(() => undefined);
    const occupant = await this.#former.occupantOf(await this.#former.places.of(path));
    this.#former.forget(path);
    if (occupant.kind === "nothing") return false;
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    if (!occupant.isOurs) throw new Error(NOT_AS_WRITTEN);
    this.#writing?.requireHeld();
    const outcome = identity === undefined ? "changed" : await removeIfSame(place, identity);
    if (outcome === "changed") throw new Error(CAME_MEANWHILE);
    if (outcome === "missing") return false;
    this.#changed.add(dirname(place));
    if (this.#former.isCopy) await this.#removeEmptyFolders(dirname(path));
    return true;
  }

  /** Removes empty folders, which a first run would not have created. */
  async #removeEmptyFolders(from: string): Promise<void> {
    for (let folder = from; folder !== "."; folder = dirname(folder)) {
      const place = await this.#former.placeOf(folder);
      if (!(await lstat(place)).isDirectory()) return; // a link stays
      try {
        removeFolderNow(place);
      } catch {
        return; // the folder is not empty
      }
      this.#changed.delete(place);
      this.#former.places.forget();
    }
  }

  /** Gives a written file the modification time, which servers compare, and the permissions of `file`. */
  async align(path: string, file: FoundFile): Promise<void> {
    const place = await this.#former.placeOf(path);
    await keepAttributesAt(place, file);
    const modified = new Date(file.mtimeMs); // a negative number would mean the present
    await utimes(place, modified, modified);
  }

  /** Returns a time after all changes so far, and before all later ones, by the file system's clock in whole ms; 0 if the folder cannot be written to. */
  async now(): Promise<number> {
    const path = this.#former.folder.temporaryFor(manifestName);
    try {
      await sleep(CLOCK_STEP);
      await writeFile(path, "");
      return Math.floor((await stat(path)).mtimeMs) - 1;
    } catch {
      return 0;
    } finally {
      await removeTemporary(path);
    }
  }

  /** Whether the manifest of these records would differ from the present one, or a run was killed. */
  isNews(records: ReadonlyMap<string, FileRecord>): boolean {
    return this.#former.journal !== undefined || manifestText(this.#former.isCopy, records) !== this.#former.text;
  }

  /**
   * Ends the run: the manifest replaces the journal, which stays for the next run if the file system throws. Its
   * modification time is `lookedAt`, when the files were as recorded: servers read what has changed since.
   */
  async end(records: ReadonlyMap<string, FileRecord>, lookedAt: number): Promise<void> {
    await this.#finish(() => {
      const text = manifestText(this.#former.isCopy, records);
      if (text === this.#former.text) return undefined;
      return writeAtomically(this.#former.folder.at(manifestName), text, { followLinks: false, mtimeMs: lookedAt });
    });
  }

  /** Replaces the journal, if this run has begun, by the result of `write`. */
  async #finish(write: () => Promise<unknown> | undefined): Promise<void> {
    const writing = this.#writing;
    if (!writing) return;
    this.#writing = undefined;
    try {
      // A folder that was removed meanwhile needs no flush.
      for (const folder of this.#changed) await flushFolder(folder).catch(ignoreMissing);
      writing.requireHeld();
      await write();
      await writing.remove();
    } finally {
      writing.leave();
    }
  }

  /** Ends a stopped run, whose journal shows the next run the finished files. */
  leave(): void {
    this.#writing?.leave();
    this.#writing = undefined;
  }

  /** Ends the run and removes all internal files of runs. @returns whether there was a manifest. */
  async forget(): Promise<boolean> {
    const path = this.#former.folder.at(manifestName);
    await this.#finish(async () => {
      const identity = await identityOf(path);
      if (identity !== undefined && await readManifestText(path) === this.#former.text) {
        await removeIfSame(path, identity);
      }
    });
    return this.#former.text !== undefined;
  }
}

/** The problem of a file that appears at a path just before a run writes it. */
const CAME_MEANWHILE = "a file came to its place during the run: run again";

/** The problem of a file that has replaced one written by a run. */
export const NOT_AS_WRITTEN = "it is not what was written there, so it stays: remove it if nobody needs it";
