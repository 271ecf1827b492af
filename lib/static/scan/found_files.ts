import { ContentColumns } from "./content_columns.ts";
import { NumberColumn } from "./number_column.ts";
import { PathIndex } from "./path_index.ts";
import { type VariantKind, variantKinds } from "./variant_kinds.ts";

/** The first kind of variants among those of representations: 0 is the file itself. */
const FIRST_VARIANT = 1;

/**
 * The files of a tree, each with a number, and their representations, each with a number: those of one file follow each
 * other, itself first. A column for each thing to know of them.
 */
export class FoundFiles {
  /** Of each file, below the folder. */
  readonly paths: PathIndex = new PathIndex();
  /** Of each representation; what it holds is not known at first. */
  readonly contents: ContentColumns = new ContentColumns();
  /** Of each representation: when its file was last changed, in ms since 1970; NaN if it was not looked at. */
  readonly times: NumberColumn = new NumberColumn();
  /** Of each representation: the number that the file system has for its file; NaN if it was not looked at. */
  readonly inos: NumberColumn = new NumberColumn();
  /** Variants that may not be forms of their files, as nothing vouches for them and they were not decoded. */
  readonly unproven: Set<number> = new Set();
  /** Variants by their names that are not forms of their files. */
  readonly unfit: Set<number> = new Set();
  /** By representation: the SHA-256 of the dictionary that a delta needs, in base64. */
  readonly dictionaries: Map<number, string> = new Map();
  /** The numbers of files whose content never changes under their names; undefined if no manifest tells of any file. */
  immutable: Set<number> | undefined;
  /** The number of the file that is the dictionary of the site, by the manifest. */
  siteDictionary: number | undefined;
  /** Real paths of folders, with a separator at the end. */
  readonly #folders: string[] = [];
  /** Of each file: the number of its folder. */
  readonly #folderOf = new NumberColumn();
  readonly #firsts = new NumberColumn();
  readonly #kinds = new NumberColumn();
  /** By representation: the real paths of those that are links. */
  readonly #links = new Map<number, string>();

  // One that was made: all representations of a file are mostly asked for in turn.
  #lastFile = -1;
  #lastPath = "";

  get length(): number {
    return this.paths.length;
  }

  /** The real paths of all folders, with a separator at the end. */
  get folders(): readonly string[] {
    return this.#folders;
  }

  /** The number of the file itself as a representation; its variants are between it and that of the next file. */
  firstOf(file: number): number {
    return file < this.length ? this.#firsts.at(file) : this.contents.length;
  }

  /** Returns the kind of variant that a representation is; undefined if it is the file itself. */
  kindOf(representation: number): VariantKind | undefined {
    return variantKinds[this.#kinds.at(representation) - FIRST_VARIANT];
  }

  /** The real path of a representation of a file. */
  realPathOf(file: number, representation: number): string {
    const link = this.#links.get(representation);
    if (link !== undefined) return link;
    if (file !== this.#lastFile) {
      const path = this.paths.at(file);
      this.#lastPath = this.#folders[this.#folderOf.at(file)] + path.slice(path.lastIndexOf("/") + 1);
      this.#lastFile = file;
    }
    return this.#lastPath + (this.kindOf(representation)?.extension ?? "");
  }

  /** Takes note of the folder whose files are added next. */
  addFolder(real: string): void {
    this.#folders.push(real);
  }

  /** Adds a file of the folder that was added last; `link` is its real path if it is a link. */
  addFile(path: string, link: string | undefined): void {
    this.#firsts.push(this.contents.length);
    this.#folderOf.push(this.#folders.length - 1);
    this.paths.add(path);
    this.#add(0, link);
  }

  /** Adds a variant of the file that was added last. */
  addVariant({ index }: VariantKind, link: string | undefined): void {
    this.#add(FIRST_VARIANT + index, link);
  }

  /** Takes note of which file a representation is in. */
  see(representation: number, { mtimeMs, ino }: { readonly mtimeMs: number; readonly ino: number }): void {
    this.times.set(representation, mtimeMs);
    this.inos.set(representation, ino);
  }

  #add(kind: number, link: string | undefined): void {
    if (link !== undefined) this.#links.set(this.contents.length, link);
    this.#kinds.push(kind);
    this.times.push(NaN);
    this.inos.push(NaN);
    this.contents.add();
  }
}
