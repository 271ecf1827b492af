import { chmod, lstat, mkdir, realpath, rmdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushFolder, identityOf, makeDirectory, removeIfSame, takeName } from "../files/internal.ts";
import { FolderChangedError, type FoundJournal, Journal, type JournalEntry, readJournal } from "./journal.ts";
import { manifestName, manifestText, parseManifest, readManifestText, writeManifest } from "./manifest.ts";
import type { FileRecord, Manifest } from "./records.ts";
import { isSameButForCase, obstacle, type Occupant, occupantAt, type RealPlace, RealPlaces } from "./occupant.ts";
import { cannotWrite } from "./problem.ts";
import { Provenance } from "./provenance.ts";
import type { FoundFile } from "./walk.ts";

/** How a {@linkcode Target} is written to. */
interface TargetOptions {
  /** Whether the files themselves are copied there. */
  readonly isCopy: boolean;
  /** Whether it is written to where links lead that leave the folder. */
  readonly followLinks: boolean;
}

/** A file that is complete but for its name. */
export interface Finished {
  /** The path of its temporary file; gone when it was put, or could not be. */
  readonly temporary: string;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  readonly entry: JournalEntry;
  /** Whether it replaces a file that no run wrote. */
  readonly replacesAny: boolean;
}

/**
 * The folder that a run writes to. All that a run changes there goes through here, so that nothing is replaced or
 * removed but bytes that a run wrote.
 */
export class Target {
  readonly folder: string;
  readonly isCopy: boolean;
  /** The manifest of the last run that ended. */
  readonly manifest: Manifest | undefined;
  /** The journal of one that did not, or is under way. */
  readonly journal: FoundJournal | undefined;
  readonly provenance: Provenance;
  readonly #places: RealPlaces;
  /** Links lead no further than this; undefined: anywhere. */
  readonly #root: string | undefined;
  readonly #text: string | undefined;
  /** The occupants seen, by path: a plan looks several times. */
  readonly #seen = new Map<string, Promise<Occupant>>();
  /** Real paths of folders in which names have changed. */
  readonly #changed = new Set<string>();
  #writing: Journal | undefined;

  private constructor(
    folder: string,
    { isCopy, followLinks }: TargetOptions,
    text: string | undefined,
    read: Pick<Target, "manifest" | "journal" | "provenance">,
    places: RealPlaces,
  ) {
    this.folder = folder;
    this.isCopy = isCopy;
    this.manifest = read.manifest;
    this.journal = read.journal;
    this.provenance = read.provenance;
    this.#places = places;
    this.#root = followLinks ? undefined : folder;
    this.#text = text;
  }

  /**
   * Reads what runs wrote to `folder`, a real path, which need not be there yet.
   *
   * @throws {TypeError} if its manifest is none.
   */
  static async of(folder: string, options: TargetOptions): Promise<Target> {
    const text = await readManifestText(folder);
    const manifest = text === undefined ? undefined : parseManifest(text, join(folder, manifestName));
    const journal = await readJournal(folder);
    const places = new RealPlaces(folder);
    const provenance = await Provenance.of(manifest, journal, places, { copies: options.isCopy });
    return new Target(folder, options, text, { manifest, journal, provenance }, places);
  }

  /** As {@linkcode of}, with copies if a run made such there. */
  static async recorded(folder: string, { followLinks }: Pick<TargetOptions, "followLinks">): Promise<Target> {
    const target = await Target.of(folder, { isCopy: true, followLinks });
    const isCopy = target.manifest?.copied ?? target.journal?.copied ?? false;
    return isCopy ? target : await Target.of(folder, { isCopy, followLinks });
  }

  /** Returns the occupant of `path`, from a cache as long as this run does not change it. */
  look(path: string): Promise<Occupant> {
    let occupant = this.#seen.get(path);
    if (!occupant) this.#seen.set(path, occupant = this.#lookAnew(path));
    return occupant;
  }

  async knows(path: string): Promise<boolean> {
    const place = await this.#places.of(path);
    return place !== undefined && !place.isOtherCase && this.provenance.knows(place.path);
  }

  /**
   * The real path of the place that is called `path`; `path` itself as long as its folder is not there, or is called so
   * but for the case of letters.
   */
  async placeOf(path: string): Promise<string> {
    const place = await this.#places.of(path);
    return place === undefined || place.isOtherCase ? join(this.folder, path) : place.path;
  }

  /**
   * Looks at a place. What a run wrote under a name in another case is not there: the file system may find it, but
   * servers elsewhere would not, and it is about to go by its own name.
   */
  async #lookAnew(path: string): Promise<Occupant> {
    const place = await this.#places.of(path);
    return place && await this.#isOtherCase(place) ? { kind: "nothing" } : await this.#occupant(place);
  }

  async #isOtherCase(place: RealPlace): Promise<boolean> {
    if (place.isOtherCase) return true;
    if (!this.provenance.knowsOtherCase(place.path)) return false;
    const real = await realpath(place.path).catch(() => place.path);
    return real !== place.path && isSameButForCase(real, place.path) && !(await lstat(place.path)).isSymbolicLink();
  }

  async #occupant(place: RealPlace | undefined): Promise<Occupant> {
    // No run puts links into a copy.
    if (place && this.isCopy && !place.isDirect) return obstacle(LINK_ON_THE_WAY);
    if (place && this.#root !== undefined && !place.isInside) return obstacle(LEADS_OUT);
    return await occupantAt(place, this.#root, (sha256) => this.provenance.wrote(place!.path, sha256));
  }

  /**
   * Takes the folder for this run; to be called before anything is changed in it.
   *
   * @param options.toRemove Whether the run only removes files, for which a full disk need have no room.
   * @throws {FolderChangedError} if another run has ended since.
   * @throws {Error} if another run is under way, or it cannot be written to.
   */
  async begin(
    { toRemove = false, signal }: { readonly toRemove?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    await makeDirectory(this.folder).catch((error) => {
      throw cannotWrite(this.folder, error);
    });
    const expected = this.journal?.length;
    this.#writing = await Journal.open(this.folder, { copied: this.isCopy, toRemove, expected, signal });
    if (await readManifestText(this.folder) === this.#text) return;
    this.#writing.leave();
    throw new FolderChangedError(this.folder);
  }

  /** Makes the folder that `path` is in, and those above it. */
  async makeFolderOf(path: string): Promise<void> {
    const folder = dirname(path);
    const place = await this.#places.of(path);
    if (place && !place.isDirect) throw new Error(LINK_ON_THE_WAY);
    if (place || folder === ".") return;
    await this.makeFolderOf(folder);
    const occupant = await this.#lookAnew(folder);
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    await mkdir(await this.placeOf(folder)).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
  }

  /**
   * Gives a finished file the name `path`.
   *
   * @returns false if the same bytes are there already; the temporary file is left then.
   * @throws {Error} if anything else is there that no run wrote; it stays.
   */
  async put(path: string, { temporary, sha256, entry, replacesAny }: Finished): Promise<boolean> {
    this.#seen.delete(path);
    const occupant = await this.#lookAnew(path);
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    const isFree = occupant.kind === "nothing";
    if (!isFree && occupant.sha256 === sha256 && !occupant.isLink) return false;
    if (!isFree && !occupant.isOurs && !replacesAny) throw new Error(CAME_MEANWHILE);
    const place = await this.placeOf(path);
    this.#writing!.append(entry);
    await takeName(temporary, place, { replace: !isFree, atOnce: false }).catch((error) => {
      throw error.code === "EEXIST" ? new Error(CAME_MEANWHILE, { cause: error }) : error;
    });
    this.#changed.add(dirname(place));
    return true;
  }

  /**
   * Removes the file at `path`.
   *
   * @returns whether there was one.
   * @throws {Error} if no run wrote it; it stays.
   */
  async remove(path: string): Promise<boolean> {
    const place = await this.placeOf(path);
    const identity = await identityOf(place).catch(() => undefined); // of what is read next; why not, that tells
    const occupant = await this.#occupant(await this.#places.of(path));
    this.#seen.delete(path);
    if (occupant.kind === "nothing") return false;
    if (occupant.kind === "obstacle") throw new Error(occupant.message);
    if (!occupant.isOurs) throw new Error(NOT_AS_WRITTEN);
    this.#writing?.requireHeld();
    const outcome = identity === undefined ? "changed" : await removeIfSame(place, identity);
    if (outcome === "changed") throw new Error(CAME_MEANWHILE);
    if (outcome === "missing") return false;
    this.#changed.add(dirname(place));
    if (this.isCopy) await this.#removeEmptyFolders(dirname(path));
    return true;
  }

  /** Removes folders that nothing is left in, as a first run would not have made them. */
  async #removeEmptyFolders(from: string): Promise<void> {
    for (let folder = from; folder !== "."; folder = dirname(folder)) {
      const place = await this.placeOf(folder);
      if (!(await lstat(place)).isDirectory()) return; // a link stays
      try {
        await rmdir(place);
      } catch {
        return; // something is in it
      }
      this.#changed.delete(place);
      this.#places.forget();
    }
  }

  /** Gives a file of ours the time of change, which servers compare, and the permissions of `file`. */
  async align(path: string, file: FoundFile): Promise<void> {
    const place = await this.placeOf(path);
    await chmod(place, file.mode);
    const modified = new Date(file.mtimeMs); // a number below 0 would be taken for the present
    await utimes(place, modified, modified);
  }

  /** Whether the manifest of these records would be another, or a run was killed. */
  isNews(records: ReadonlyMap<string, FileRecord>): boolean {
    return this.journal !== undefined || manifestText(this.isCopy, records) !== this.#text;
  }

  /**
   * Ends the run: writes the manifest, which stands for the journal then.
   *
   * @throws {Error} what the file system says; the journal is left to the next run then.
   */
  async end(records: ReadonlyMap<string, FileRecord>): Promise<void> {
    const writing = this.#writing;
    if (!writing) return;
    this.#writing = undefined;
    await this.#finish(writing, () => {
      const text = manifestText(this.isCopy, records);
      return text === this.#text ? undefined : writeManifest(this.folder, text);
    });
  }

  /** Replaces the journal by what `write` leaves in its stead. */
  async #finish(writing: Journal, write: () => Promise<void> | undefined): Promise<void> {
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

  /** Ends a run that was stopped: the next one finds in the journal what was done. */
  leave(): void {
    this.#writing?.leave();
    this.#writing = undefined;
  }

  /** Ends the run and removes all that runs keep there for themselves. @returns whether there was a manifest. */
  async forget(): Promise<boolean> {
    const writing = this.#writing!;
    this.#writing = undefined;
    await this.#finish(writing, () => this.#removeManifest());
    return this.#text !== undefined;
  }

  async #removeManifest(): Promise<void> {
    const path = join(this.folder, manifestName);
    const identity = await identityOf(path);
    if (identity === undefined || await readManifestText(this.folder) !== this.#text) return;
    await removeIfSame(path, identity);
  }
}

/** The problems of a file that a symbolic link is on the way to. */
const LINK_ON_THE_WAY = "a symbolic link is on its way: remove that";
const LEADS_OUT = "a symbolic link on its way leads out of the folder: remove that, or pass --follow-links";

/** The problem of a file that appears where a run is about to write. */
const CAME_MEANWHILE = "a file came to its place during the run: run again";

/** The problem of a file that stands where a run wrote another. */
export const NOT_AS_WRITTEN = "it is not what was written there, so it stays: remove it if nobody needs it";
