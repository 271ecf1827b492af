import { chmod, lstat, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  flushFolder,
  identityOf,
  makeDirectory,
  removeFolderNow,
  removeIfSame,
  takeName,
  writeAtomically,
} from "../files/internal.ts";
import { type FormerRuns, LINK_ON_THE_WAY } from "./former_runs.ts";
import { FolderChangedError, Journal, type JournalEntry } from "./journal.ts";
import { manifestName, manifestText, readManifestText } from "./manifest.ts";
import { cannotWrite } from "./problem.ts";
import type { FileRecord } from "./records.ts";
import type { FoundFile } from "./walk.ts";

/** A complete temporary file that lacks only its name. */
export interface Finished {
  /** The path of its temporary file, which is gone after `put()`, even if that fails. */
  readonly temporary: string;
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly entry: JournalEntry;
  /** Whether it replaces a file that no run wrote. */
  readonly replacesAny: boolean;
}

/** The folder that a run writes to, and the only way to change it: only bytes that a run wrote are replaced or removed. */
export class Target {
  readonly #former: FormerRuns;
  /** Real paths of folders in which names have changed. */
  readonly #changed = new Set<string>();
  #writing: Journal | undefined;

  constructor(former: FormerRuns) {
    this.#former = former;
  }

  /**
   * Takes the folder for this run, before any change; `toRemove`: it only removes, for which a full disk need have no room.
   * Throws a FolderChangedError if another run has ended since, an Error if one is under way or the folder is unwritable.
   */
  async begin(
    { toRemove = false, signal }: { readonly toRemove?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const { folder, isCopy, journal, text } = this.#former;
    await makeDirectory(folder).catch((error) => {
      throw cannotWrite(folder, error);
    });
    this.#writing = await Journal.open(folder, { copied: isCopy, toRemove, expected: journal?.length, signal });
    if (await readManifestText(folder) === text) return;
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
   * Gives a finished file the name `path`; false if the same bytes are there, and then the temporary file is left.
   * Throws an Error if anything else is there that no run wrote; it stays.
   */
  async put(path: string, { temporary, sha256, entry, replacesAny }: Finished): Promise<boolean> {
    this.#former.forget(path);
    const occupant = await this.#former.lookAnew(path);
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    const isFree = occupant.kind === "nothing";
    if (!isFree && occupant.sha256 === sha256 && !occupant.isLink) return false;
    if (!isFree && !occupant.isOurs && !replacesAny) throw new Error(CAME_MEANWHILE);
    const place = await this.#former.placeOf(path);
    this.#writing!.append(entry);
    await takeName(temporary, place, { replace: !isFree, atOnce: false }).catch((error) => {
      throw error.code === "EEXIST" ? new Error(CAME_MEANWHILE, { cause: error }) : error;
    });
    this.#changed.add(dirname(place));
    return true;
  }

  /** Removes the file at `path`; returns whether there was one. Throws an Error if no run wrote it; it stays. */
  async remove(path: string): Promise<boolean> {
    const place = await this.#former.placeOf(path);
    const identity = await identityOf(place).catch(() => undefined); // of what is read next; why not, that tells
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

  /** Removes empty folders, which a first run would not have made. */
  async #removeEmptyFolders(from: string): Promise<void> {
    for (let folder = from; folder !== "."; folder = dirname(folder)) {
      const place = await this.#former.placeOf(folder);
      if (!(await lstat(place)).isDirectory()) return; // a link stays
      try {
        removeFolderNow(place);
      } catch {
        return; // something is in it
      }
      this.#changed.delete(place);
      this.#former.places.forget();
    }
  }

  /** Gives a written file the time of change, which servers compare, and the permissions of `file`. */
  async align(path: string, file: FoundFile): Promise<void> {
    const place = await this.#former.placeOf(path);
    await chmod(place, file.mode);
    const modified = new Date(file.mtimeMs); // a number below 0 would be taken for the present
    await utimes(place, modified, modified);
  }

  /** Whether the manifest of these records would differ from the present one, or a run was killed. */
  isNews(records: ReadonlyMap<string, FileRecord>): boolean {
    return this.#former.journal !== undefined || manifestText(this.#former.isCopy, records) !== this.#former.text;
  }

  /** Ends the run: the manifest replaces the journal, which is left to the next run if the file system throws. */
  async end(records: ReadonlyMap<string, FileRecord>): Promise<void> {
    const writing = this.#writing;
    if (!writing) return;
    this.#writing = undefined;
    await this.#finish(writing, () => {
      const text = manifestText(this.#former.isCopy, records);
      if (text === this.#former.text) return undefined;
      return writeAtomically(join(this.#former.folder, manifestName), text, { followLinks: false });
    });
  }

  /** Replaces the journal by the result of `write`. */
  async #finish(writing: Journal, write: () => Promise<unknown> | undefined): Promise<void> {
    try {
      for (const folder of this.#changed) {
        await flushFolder(folder).catch((error) => {
          if (error.code !== "ENOENT") throw error; // a folder that was removed meanwhile has no names to be flushed
        });
      }
      writing.requireHeld();
      await write();
      await writing.remove();
    } finally {
      writing.leave();
    }
  }

  /** Ends a stopped run: its journal tells the next one what was done. */
  leave(): void {
    this.#writing?.leave();
    this.#writing = undefined;
  }

  /** Ends the run and removes all internal files of runs. @returns whether there was a manifest. */
  async forget(): Promise<boolean> {
    const writing = this.#writing!;
    this.#writing = undefined;
    await this.#finish(writing, () => this.#removeManifest());
    return this.#former.text !== undefined;
  }

  async #removeManifest(): Promise<void> {
    const path = join(this.#former.folder, manifestName);
    const identity = await identityOf(path);
    if (identity === undefined || await readManifestText(this.#former.folder) !== this.#former.text) return;
    await removeIfSame(path, identity);
  }
}

/** The problem of a file that appears at a path that a run is about to write. */
const CAME_MEANWHILE = "a file came to its place during the run: run again";

/** The problem of a file that replaced the one a run wrote. */
export const NOT_AS_WRITTEN = "it is not what was written there, so it stays: remove it if nobody needs it";
