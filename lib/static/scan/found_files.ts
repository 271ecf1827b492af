import { sep } from "node:path";
import { type VariantKind, variantKinds } from "./representation.ts";

export const GROWTH = 1.5;

/** A list of numbers that grows in place: an array would leave its old memory as garbage at each growth. */
export class NumberColumn {
  #values: Float64Array<ArrayBuffer> = new Float64Array(512);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      // Transferred, not copied, so that the old memory is freed at once.
      const bytes = Math.ceil(this.length * GROWTH) * Float64Array.BYTES_PER_ELEMENT;
      this.#values = new Float64Array(this.#values.buffer.transfer(bytes));
    }
    this.#values[this.length++] = value;
  }

  /** Returns the number at `index`, which must be below {@linkcode length}. */
  at(index: number): number {
    return this.#values[index];
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}

/** The number of bytes of a SHA-256. */
const HASH = 32;
/** The size of an unknown content. */
const UNKNOWN = -1;

/** The sizes and hashes of files by number. As objects, those of 40,000 files would take 10 MB, and 30 MB of V8's young heap. */
export class ContentColumns {
  readonly #sizes = new NumberColumn();
  #hashes: Buffer<ArrayBuffer> = Buffer.alloc(512 * HASH);

  get length(): number {
    return this.#sizes.length;
  }

  /** Adds an unknown content, whose number is the former {@linkcode length}. */
  add(): void {
    if (this.length * HASH === this.#hashes.length) {
      this.#hashes = Buffer.from(this.#hashes.buffer.transfer(Math.ceil(this.length * GROWTH) * HASH));
    }
    this.#sizes.push(UNKNOWN);
  }

  /** Sets a content, which becomes unknown if `sha256` is invalid. */
  set(index: number, size: number, sha256: string, encoding: "hex" | "base64"): void {
    const isHash = this.#hashes.write(sha256, index * HASH, HASH, encoding) === HASH;
    this.#sizes.set(index, isHash ? size : UNKNOWN);
  }

  clear(index: number): void {
    this.#sizes.set(index, UNKNOWN);
  }

  has(index: number): boolean {
    return this.#sizes.at(index) !== UNKNOWN;
  }

  sizeOf(index: number): number {
    return this.#sizes.at(index);
  }

  /** Whether two known contents are the same: this one, and `other` in `others`. */
  isSame(index: number, others: ContentColumns, other: number): boolean {
    return this.#hashAt(index).equals(others.#hashAt(other));
  }

  /** Returns the SHA-256 in base64. */
  sha256Of(index: number): string {
    return this.#hashAt(index).toString("base64");
  }

  /** Returns a view: Deno takes the bounds of ranges in `Buffer.compare()` for those of the other buffer. */
  #hashAt(index: number): Buffer {
    return this.#hashes.subarray(index * HASH, (index + 1) * HASH);
  }
}

const FREE = -1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // a byte order mark would be part of the path

/** Paths with a number each, found by their text. Stored as bytes: strings in a `Map` take some 100 bytes each of V8's heap. */
export class PathIndex {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  /** The offset of each path in `#bytes`, and the end of the last one. */
  readonly #starts = new NumberColumn();
  /** The numbers of paths, each in the slot of its hash or soon after; at least half are free. */
  #slots: Int32Array<ArrayBuffer> = new Int32Array(1024).fill(FREE);
  /** The path to find or add, as bytes. */
  #wanted: Uint8Array<ArrayBuffer> = new Uint8Array(1024);

  constructor() {
    this.#starts.push(0);
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  /** Adds a new path, whose number is the former {@linkcode length}. */
  add(path: string): void {
    const wanted = this.#encode(path);
    const start = this.#starts.at(this.length);
    const end = start + wanted.length;
    if (end > this.#bytes.length) this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(Math.ceil(end * GROWTH)));
    this.#bytes.set(wanted, start);
    this.#starts.push(end);
    if (this.length * 2 > this.#slots.length) this.#rehash();
    else this.#slots[this.#slotOf(wanted)] = this.length - 1;
  }

  find(path: string): number | undefined {
    const found = this.#slots[this.#slotOf(this.#encode(path))];
    return found === FREE ? undefined : found;
  }

  /** Returns the path of a number below {@linkcode length}. */
  at(index: number): string {
    return decoder.decode(this.#bytesAt(index));
  }

  #encode(path: string): Uint8Array {
    // A UTF-16 code unit has at most 3 bytes.
    if (path.length * 3 > this.#wanted.length) this.#wanted = new Uint8Array(path.length * 3);
    return this.#wanted.subarray(0, encoder.encodeInto(path, this.#wanted).written);
  }

  #bytesAt(index: number): Uint8Array {
    return this.#bytes.subarray(this.#starts.at(index), this.#starts.at(index + 1));
  }

  /** Returns the slot of `path`, or the free one for it. */
  #slotOf(path: Uint8Array): number {
    const last = this.#slots.length - 1; // a power of two minus one
    let slot = hashOf(path) & last;
    while (this.#slots[slot] !== FREE && !this.#isAt(this.#slots[slot], path)) slot = (slot + 1) & last;
    return slot;
  }

  #isAt(index: number, path: Uint8Array): boolean {
    const start = this.#starts.at(index);
    if (this.#starts.at(index + 1) - start !== path.length) return false;
    for (let i = 0; i < path.length; i++) {
      if (this.#bytes[start + i] !== path[i]) return false;
    }
    return true;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 4).fill(FREE);
    for (let i = 0; i < this.length; i++) this.#slots[this.#slotOf(this.#bytesAt(i))] = i;
  }
}

/** Computes FNV-1a, mixed once more so that its low bits depend on all bytes. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

/** The first index of variants among a file's representations: 0 is the file itself. */
const FIRST_VARIANT = 1;

/** The files of a tree and their representations by number; a file's own representation is followed by its variants. */
export class FileColumns {
  readonly paths: PathIndex = new PathIndex();
  /** The content of each representation, initially unknown. */
  readonly contents: ContentColumns = new ContentColumns();
  /** The time of each representation's last change, in ms since 1970; NaN until it is checked. */
  readonly times: NumberColumn = new NumberColumn();
  /** The inode number of each representation's file; NaN until it is checked. */
  readonly numbers: NumberColumn = new NumberColumn();
  /** The numbers of files that are not read yet: their contents and those of their variants are unknown. */
  readonly unread: Set<number> = new Set();
  /** The files, by their own representations, that are identified by size and time instead of their bytes. */
  readonly unhashed: Set<number> = new Set();
  /** The unverified variants: the manifest does not record them, and they were not decoded. */
  readonly unproven: Set<number> = new Set();
  /** The files named like variants that are not forms of their files. */
  readonly unfit: Set<number> = new Set();
  /** The SHA-256 in base64 of the dictionary that a delta requires, by representation. */
  readonly dictionaries: Map<number, string> = new Map();
  /** The numbers of immutable files; undefined if the manifest records none. */
  immutable: Set<number> | undefined;
  /** The number of the site's dictionary file, by the manifest. */
  siteDictionary: number | undefined;
  /** Real paths of folders, with a separator at the end. */
  readonly folders: string[] = [];
  readonly #folderOf = new NumberColumn();
  readonly #firsts = new NumberColumn();
  readonly #kinds = new NumberColumn();
  /** The real paths of representations that are links. */
  readonly #links = new Map<number, string>();

  // The last computed index: the representations of a file are mostly queried one after the other.
  #lastFile = -1;
  #lastPath = "";

  get length(): number {
    return this.paths.length;
  }

  /** Returns the number of the file's own representation; its variants follow, up to that of the next file. */
  firstOf(file: number): number {
    return file < this.length ? this.#firsts.at(file) : this.contents.length;
  }

  /** Returns the kind of a variant; undefined for the file itself. */
  kindOf(representation: number): VariantKind | undefined {
    return variantKinds[this.#kinds.at(representation) - FIRST_VARIANT];
  }

  realPathOf(file: number, representation: number): string {
    const link = this.#links.get(representation);
    if (link !== undefined) return link;
    if (file !== this.#lastFile) {
      const path = this.paths.at(file);
      this.#lastPath = this.folders[this.#folderOf.at(file)] + path.slice(path.lastIndexOf("/") + 1);
      this.#lastFile = file;
    }
    return this.#lastPath + (this.kindOf(representation)?.extension ?? "");
  }

  /** Whether a path to a representation has a symbolic link below the root, the first folder. */
  isLinked(file: number, representation: number): boolean {
    const path = this.paths.at(file).replaceAll("/", sep) + (this.kindOf(representation)?.extension ?? "");
    return this.realPathOf(file, representation) !== this.folders[0] + path;
  }

  addFile(path: string, link: string | undefined): void {
    this.#firsts.push(this.contents.length);
    this.#folderOf.push(this.folders.length - 1); // the last folder
    this.paths.add(path);
    this.#add(0, link);
  }

  addVariant({ index }: VariantKind, link: string | undefined): void {
    this.#add(FIRST_VARIANT + index, link);
  }

  /** Records the file that a representation is in. */
  see(representation: number, { mtimeMs, number }: { readonly mtimeMs: number; readonly number: number }): void {
    this.times.set(representation, mtimeMs);
    this.numbers.set(representation, number);
  }

  #add(kind: number, link: string | undefined): void {
    if (link !== undefined) this.#links.set(this.contents.length, link);
    this.#kinds.push(kind);
    this.times.push(NaN);
    this.numbers.push(NaN);
    this.contents.add();
  }
}
