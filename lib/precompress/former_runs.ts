import { foldedName } from "../files/internal.ts";
import type { Folder } from "./folder.ts";
import { extensions, type VariantFormat } from "./formats.ts";
import { type FoundJournal, readJournal } from "./journal.ts";
import { manifestName, parseManifest, readManifestText } from "./manifest.ts";
import { type ExistingEntry, isListedOtherwise, obstacle, occupantAt, type RealPlace, RealPlaces } from "./occupant.ts";
import { type FileRecord, isWritten, type Manifest } from "./records.ts";

export interface WritingOptions {
  readonly isCopy: boolean;
  /** Whether files are written through links that leave the folder. */
  readonly followLinks: boolean;
}

/** The problem of a file with a symbolic link in its path. */
export const LINK_ON_THE_WAY = "a symbolic link is on its way: remove that";
const LEADS_OUT = "a symbolic link on its way leads out of the folder: remove that, or pass --follow-links";

/** The files that earlier runs wrote below a folder, by its manifest and journal, and the files that are there now. */
export class FormerRuns {
  readonly folder: Folder;
  readonly isCopy: boolean;
  /** The manifest of the last run that ended, and its text. */
  readonly manifest: Manifest | undefined;
  readonly text: string | undefined;
  /** The journal of a run that was killed, or is in progress. */
  readonly journal: FoundJournal | undefined;
  readonly places: RealPlaces;
  /** The latest records of all files. */
  readonly records: Map<string, FileRecord> = new Map();
  /** The hashes of the bytes that runs wrote, by path. */
  readonly #hashes = new Map<string, Set<string>>();
  /** The hashes by real path. */
  readonly #written = new Map<string, Set<string>>();
  /** The real paths, by their folded forms. */
  #folded: ReadonlyMap<string, readonly string[]> | undefined = undefined;
  /** The folder that links must not leave; undefined if they may. */
  readonly #root: Folder | undefined;
  /** The existing entries by path, cached, since a plan checks paths several times. */
  readonly #seen = new Map<string, Promise<ExistingEntry>>();

  private constructor(
    folder: Folder,
    { isCopy, followLinks }: WritingOptions,
    text: string | undefined,
    journal: FoundJournal | undefined,
  ) {
    this.folder = folder;
    this.isCopy = isCopy;
    this.text = text;
    this.manifest = text === undefined ? undefined : parseManifest(text, folder.at(manifestName));
    this.journal = journal;
    this.places = new RealPlaces(folder);
    this.#root = followLinks && !isCopy ? undefined : folder;
  }

  /** Reads the files that runs wrote to `folder`, which may be missing. Throws a TypeError if its manifest is malformed. */
  static async of(folder: Folder, options: WritingOptions): Promise<FormerRuns> {
    const runs = new FormerRuns(
      folder,
      options,
      await readManifestText(folder.at(manifestName)),
      await readJournal(folder),
    );
    const { journal, manifest, places, records } = runs;
    for (const [recorded, record] of Object.entries(manifest?.files ?? {})) {
      const path = await runs.#keyOf(recorded, record);
      if (path === recorded || !records.has(path)) records.set(path, record);
      runs.#takeFile(path, record, manifest!.copied);
      for (const [format, variant] of Object.entries(record.variants)) {
        if (isWritten(variant)) runs.#take(path + extensions[format as VariantFormat], variant.sha256!);
      }
    }
    for (const entry of journal?.entries ?? []) {
      const { record, made } = entry;
      const path = await runs.#keyOf(entry.path, record);
      const known = records.get(path);
      const base = known?.sha256 === record.sha256 ? known : { ...record, variants: {} };
      const variants = made ? { ...base.variants, [made.format]: made.variant } : base.variants;
      records.set(path, { ...base, ...record, variants });
      if (made === undefined) runs.#takeFile(path, record, journal!.copied);
      else if (isWritten(made.variant)) runs.#take(path + extensions[made.format], made.variant.sha256!);
    }
    for (const [path, known] of runs.#hashes) {
      const real = await places.of(path);
      if (real) runs.#written.set(real.path, known.union(runs.#written.get(real.path) ?? new Set()));
    }
    return runs;
  }

  /** Reads former runs like {@linkcode of}, including copies of an earlier run. */
  static async recorded(folder: Folder, { followLinks }: Pick<WritingOptions, "followLinks">): Promise<FormerRuns> {
    const runs = await FormerRuns.of(folder, { isCopy: true, followLinks });
    const isCopy = runs.manifest?.copied ?? runs.journal?.copied ?? false;
    return isCopy ? runs : await FormerRuns.of(folder, { isCopy, followLinks });
  }

  /** Returns the path of a recorded file; its real place if no link leads there any more. */
  async #keyOf(path: string, { place = path }: FileRecord): Promise<string> {
    return place === path || (await this.places.of(path))?.path === this.folder.at(place) ? path : place;
  }

  #takeFile(path: string, { sha256, found, madeOf }: FileRecord, isCopied: boolean): void {
    if ((madeOf !== undefined || this.isCopy && isCopied) && !found) this.#take(path, sha256);
  }

  #take(path: string, sha256: string): void {
    this.#hashes.set(path, (this.#hashes.get(path) ?? new Set()).add(sha256));
  }

  /** The paths of files that runs wrote below the folder. */
  get paths(): Iterable<string> {
    return this.#hashes.keys();
  }

  /** Returns the existing entry at `path`, cached until {@linkcode forget}. */
  look(path: string): Promise<ExistingEntry> {
    let occupant = this.#seen.get(path);
    if (!occupant) this.#seen.set(path, occupant = this.lookAnew(path));
    return occupant;
  }

  /** Notes bytes that this run has written to a real path, so that it may remove them again. */
  note(place: string, sha256: string): void {
    this.#written.set(place, new Set(this.#written.get(place)).add(sha256));
  }

  /** Clears the cached entry of `path`, which is about to change. */
  forget(path: string): void {
    this.#seen.delete(path);
  }

  /** Whether a run wrote a file to the place of `path`. */
  async knows(path: string): Promise<boolean> {
    const place = await this.places.of(path);
    return place !== undefined && !place.isOtherCase && this.#written.has(place.path);
  }

  /** Returns the real path of `path`; `path` itself if its folder is missing, or its name differs only in case. */
  async placeOf(path: string): Promise<string> {
    const place = await this.places.of(path);
    return place === undefined || place.isOtherCase ? this.folder.at(path) : place.path;
  }

  /** Reads the existing entry of a place. A name in another case does not count, since servers on other systems would not find it. */
  async lookAnew(path: string): Promise<ExistingEntry> {
    const place = await this.places.of(path);
    return place && await this.#isOtherCase(place) ? { kind: "nothing" } : await this.occupantOf(place);
  }

  async #isOtherCase(place: RealPlace): Promise<boolean> {
    if (place.isOtherCase) return true;
    this.#folded ??= Map.groupBy(this.#written.keys(), foldedName);
    if (!this.#folded.get(foldedName(place.path))?.some((path) => path !== place.path)) return false;
    return await isListedOtherwise(place.path, this.folder);
  }

  async occupantOf(place: RealPlace | undefined): Promise<ExistingEntry> {
    // No run puts links into a copy.
    if (place && this.isCopy && !place.isDirect) return obstacle(LINK_ON_THE_WAY);
    if (place && this.#root !== undefined && !place.isInside) return obstacle(LEADS_OUT);
    return await occupantAt(place, this.#root, (sha256) => this.#written.get(place!.path)?.has(sha256) ?? false);
  }
}
