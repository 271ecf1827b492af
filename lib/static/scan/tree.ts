import { isShortage, type LargeContents } from "./file_content.ts";
import type { FileColumns } from "./found_files.ts";
import { type Representation, type SiteDictionary, type TreeFile, variantKinds } from "./representation.ts";

/** The number of files that are read in parallel: each needs a descriptor, and slows the others down. */
const LANES = 4;

/** The files to serve. Objects are made at requests, since most files of a large tree get none. */
export class Tree implements Iterable<TreeFile> {
  readonly #found: FileColumns;
  readonly #examine: (file: number) => Promise<void>;
  readonly #reading = new Map<number, Promise<void>>();
  readonly #lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());

  /** The state that all scans of a handler share. */
  readonly large: LargeContents;

  constructor(found: FileColumns, examine: (file: number) => Promise<void>, large: LargeContents) {
    this.large = large;
    this.#found = found;
    this.#examine = examine;
  }

  /** The numbers of files that are not read yet. */
  get unread(): ReadonlySet<number> {
    return this.#found.unread;
  }

  /** Reads a file of {@linkcode unread}. Rejects if descriptors are short; the file then remains unread. */
  read(file: number): Promise<void> {
    const known = this.#reading.get(file);
    if (known || !this.#found.unread.has(file)) return known ?? Promise.resolve();
    const lane = file % LANES;
    const reading = this.#lanes[lane].then(() => this.#examine(file)).then(
      () => void this.#found.unread.delete(file),
      (error) => {
        if (!isShortage(error)) this.#found.unread.delete(file); // a user's callback for warnings threw
        throw error;
      },
    ).finally(() => this.#reading.delete(file));
    this.#reading.set(file, reading);
    this.#lanes[lane] = reading.catch(() => {});
    return reading;
  }

  /** The number of files; some may have been dropped. */
  get length(): number {
    return this.#found.length;
  }

  get representations(): number {
    return this.#found.contents.length;
  }

  count(): number {
    let count = 0;
    for (let i = 0; i < this.length; i++) if (this.#has(i)) count++;
    return count;
  }

  *paths(): Generator<string> {
    for (let i = 0; i < this.length; i++) if (this.#has(i)) yield this.#found.paths.at(i);
  }

  /** Returns the path of a file whose bytes differ in `former`; undefined if they are the same, missing or unread there. */
  changedPath(file: number, former: Tree): string | undefined {
    if (!this.#isKnown(file)) return undefined;
    const path = this.#found.paths.at(file);
    const before = former.find(path);
    if (before === undefined || !former.#isKnown(before)) return undefined;
    const [now, then] = [this.#found, former.#found];
    const [index, earlier] = [now.firstOf(file), then.firstOf(before)];
    if (now.unhashed.has(index) || then.unhashed.has(earlier)) return undefined;
    return now.contents.isSame(index, then.contents, earlier) ? undefined : path;
  }

  /** Returns the number of the file at a path below the folder, or undefined. */
  find(path: string): number | undefined {
    const file = this.#found.paths.find(path);
    return file !== undefined && this.#has(file) ? file : undefined;
  }

  /** Whether another state of the folder contains all its files. */
  isWithin(state: { has(path: string): boolean }): boolean {
    for (let i = 0; i < this.length; i++) if (this.#has(i) && !state.has(this.#found.paths.at(i))) return false;
    return true;
  }

  /** Returns the file with a number; undefined if it was dropped, or is not read yet. */
  at(file: number): TreeFile | undefined {
    if (!this.#isKnown(file)) return undefined;
    const [identity, ...others] = this.representationsOf(file);
    const variants = others.filter(({ dictionary }) => dictionary === undefined);
    const deltas = others.filter(({ dictionary }) => dictionary !== undefined);
    return { path: this.#found.paths.at(file), mtimeMs: identity.mtimeMs!, identity, variants, deltas };
  }

  /** Returns the variant at a path below the folder as an ordinary file, for links to it; undefined for deltas. */
  variantAt(path: string): TreeFile | undefined {
    const kind = variantKinds.find(({ extension, dictionary }) => !dictionary && path.endsWith(extension));
    const original = kind && this.find(path.slice(0, -kind.extension.length));
    if (original === undefined) return undefined;
    const [variant] = this.#all(original, (each) => this.#found.kindOf(each) === kind);
    if (!variant) return undefined;
    const mtimeMs = variant.mtimeMs ?? this.at(original)!.mtimeMs;
    return { path, mtimeMs, identity: { ...variant, coding: "identity" }, variants: [], deltas: [] };
  }

  /** Returns the representations of a file that `isWanted` selects by number, its own first; none if it was dropped. */
  representationsOf(file: number, isWanted: (representation: number) => boolean = () => true): Representation[] {
    return this.#all(file, (each) => !this.#found.unfit.has(each) && isWanted(each));
  }

  /** Returns the size in bytes; undefined if the representation was dropped. */
  sizeOf(representation: number): number | undefined {
    const { contents, unfit } = this.#found;
    return contents.has(representation) && !unfit.has(representation) ? contents.sizeOf(representation) : undefined;
  }

  /** Returns a file with a SHA-256 in base64, if there is one. */
  originalOf(sha256: string): Representation | undefined {
    for (let i = 0; i < this.length; i++) {
      const first = this.#found.firstOf(i);
      if (this.#isKnown(i) && this.#found.contents.sha256Of(first) === sha256) return this.#representation(i, first);
    }
    return undefined;
  }

  /** The real paths of the folders with files, each with a separator at its end. */
  get folders(): readonly string[] {
    return this.#found.folders;
  }

  /** The dictionary of the site, if it exists and is as the manifest records it. */
  get siteDictionary(): SiteDictionary | undefined {
    const { siteDictionary, paths, contents } = this.#found;
    if (siteDictionary === undefined || !this.#isKnown(siteDictionary)) return undefined;
    return { path: paths.at(siteDictionary), sha256: contents.sha256Of(this.#found.firstOf(siteDictionary)) };
  }

  /** Returns whether a path is immutable, by the manifest; undefined if that records no file. */
  get recordedImmutable(): ((path: string) => boolean) | undefined {
    const { immutable, paths } = this.#found;
    return immutable && ((path) => immutable.has(paths.find(path) ?? -1));
  }

  /** The number of variants that are not verified yet. */
  get unproven(): number {
    return this.#found.unproven.size;
  }

  /** Whether a representation is not verified yet. */
  isOpen(representation: number): boolean {
    return this.#found.unproven.has(representation);
  }

  prove(representation: number): void {
    this.#found.unproven.delete(representation);
  }

  disprove(representation: number): void {
    this.#found.unproven.delete(representation);
    this.#found.unfit.add(representation);
  }

  codingOf(representation: number): Representation["coding"] {
    return this.#found.kindOf(representation)?.coding ?? "identity";
  }

  *[Symbol.iterator](): Generator<TreeFile> {
    for (let i = 0; i < this.length; i++) {
      const file = this.at(i);
      if (file) yield file;
    }
  }

  #all(file: number, isWanted: (representation: number) => boolean): Representation[] {
    const representations: Representation[] = [];
    if (!this.#isKnown(file)) return representations;
    const end = this.#found.firstOf(file + 1);
    for (let i = this.#found.firstOf(file); i < end; i++) {
      if (this.#found.contents.has(i) && isWanted(i)) representations.push(this.#representation(file, i));
    }
    return representations;
  }

  /** Whether a file was kept: an unreadable file is dropped with all its variants. */
  #has(file: number): boolean {
    return this.#found.unread.has(file) || this.#isKnown(file);
  }

  #isKnown(file: number): boolean {
    return !this.#found.unread.has(file) && this.#found.contents.has(this.#found.firstOf(file));
  }

  #representation(file: number, index: number): Representation {
    const { contents, times, numbers, dictionaries, unhashed } = this.#found;
    return {
      index,
      file: this.#found.realPathOf(file, index),
      coding: this.codingOf(index),
      size: contents.sizeOf(index),
      sha256: contents.sha256Of(index),
      isUnhashed: unhashed.has(index),
      mtimeMs: known(times.at(index)),
      number: known(numbers.at(index)),
      dictionary: dictionaries.get(index),
    };
  }
}

function known(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
