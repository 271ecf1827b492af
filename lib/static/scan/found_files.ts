import { type VariantKind, variantKinds } from "./representation.ts";

export const GROWTH = 1.5;

/** A list of numbers that grows in place: an array leaves its former, smaller self behind whenever it grows. */
export class NumberColumn {
  #values: Float64Array<ArrayBuffer> = new Float64Array(512);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      // Moved, not copied: the former memory is free at once.
      const bytes = Math.ceil(this.length * GROWTH) * Float64Array.BYTES_PER_ELEMENT;
      this.#values = new Float64Array(this.#values.buffer.transfer(bytes));
    }
    this.#values[this.length++] = value;
  }

  /** The number at `index`, which is one below {@linkcode length}. */
  at(index: number): number {
    return this.#values[index];
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}

/** Bytes of a SHA-256. */
const HASH = 32;
/** The size of what is not known. */
const UNKNOWN = -1;

/** The sizes and hashes of files by number. As objects those of 40,000 would take 10 MB, and 30 MB of V8's young heap. */
export class ContentColumns {
  readonly #sizes = new NumberColumn();
  #hashes: Buffer<ArrayBuffer> = Buffer.alloc(512 * HASH);

  get length(): number {
    return this.#sizes.length;
  }

  /** Adds a content that is not known yet; its number is the former {@linkcode length}. */
  add(): void {
    if (this.length * HASH === this.#hashes.length) {
      this.#hashes = Buffer.from(this.#hashes.buffer.transfer(Math.ceil(this.length * GROWTH) * HASH));
    }
    this.#sizes.push(UNKNOWN);
  }

  /** Sets a content, which is not known then if `sha256` is none. */
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

  /** In bytes. */
  sizeOf(index: number): number {
    return this.#sizes.at(index);
  }

  /** Whether a content is the same as one of `others`; both are known. */
  isSame(index: number, others: ContentColumns, other: number): boolean {
    const [start, end] = [index * HASH, (index + 1) * HASH];
    return this.#hashes.compare(others.#hashes, other * HASH, (other + 1) * HASH, start, end) === 0;
  }

  /** In base64. */
  sha256Of(index: number): string {
    return this.#hashes.toString("base64", index * HASH, (index + 1) * HASH);
  }
}

const FREE = -1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // what looks like one belongs to the path

/** Paths with a number each, found by their text. Kept as bytes: strings in a `Map` take some 100 bytes each of V8's heap. */
export class PathIndex {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  /** The offset of each path in `#bytes`, and of the end of the last. */
  readonly #starts = new NumberColumn();
  /** Numbers of paths, each as near as can be to the place that its hash tells; at least half are free. */
  #slots: Int32Array<ArrayBuffer> = new Int32Array(1024).fill(FREE);
  /** The path to find or add, as bytes. */
  #wanted: Uint8Array<ArrayBuffer> = new Uint8Array(1024);

  constructor() {
    this.#starts.push(0);
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  /** Adds a path that is not there yet; its number is the former {@linkcode length}. */
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

  /** The path with a number below {@linkcode length}. */
  at(index: number): string {
    return decoder.decode(this.#bytesAt(index));
  }

  #encode(path: string): Uint8Array {
    // A UTF-16 code unit is 3 bytes at most.
    if (path.length * 3 > this.#wanted.length) this.#wanted = new Uint8Array(path.length * 3);
    return this.#wanted.subarray(0, encoder.encodeInto(path, this.#wanted).written);
  }

  #bytesAt(index: number): Uint8Array {
    return this.#bytes.subarray(this.#starts.at(index), this.#starts.at(index + 1));
  }

  /** Returns the slot that holds `path`, or the free one for it. */
  #slotOf(path: Uint8Array): number {
    const last = this.#slots.length - 1; // a power of two less one
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

/** FNV-1a, mixed once more at the end so that its low bits depend on all. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

/** The first kind of variants among those of representations: 0 is the file itself. */
const FIRST_VARIANT = 1;

/** The files of a tree and their representations by number: those of one file follow each other, itself first. */
export class FileColumns {
  readonly paths: PathIndex = new PathIndex();
  /** The content of each representation, unknown at first. */
  readonly contents: ContentColumns = new ContentColumns();
  /** The time of each representation's last change, in ms since 1970; NaN without a check. */
  readonly times: NumberColumn = new NumberColumn();
  /** The number of each representation's file; NaN without a check. */
  readonly numbers: NumberColumn = new NumberColumn();
  /** The numbers of files that are still to be read: what they and their variants hold is not known. */
  readonly unread: Set<number> = new Set();
  /** Files, by their own representations, of which size and time were looked at in place of their bytes. */
  readonly unhashed: Set<number> = new Set();
  /** Variants that may not be forms of their files, as nothing vouches for them and they were not decoded. */
  readonly unproven: Set<number> = new Set();
  /** Variants by their names that are not forms of their files. */
  readonly unfit: Set<number> = new Set();
  /** By representation: the SHA-256 of the dictionary that a delta needs, in base64. */
  readonly dictionaries: Map<number, string> = new Map();
  /** The numbers of the files whose content never changes under their names; undefined if no manifest records any file. */
  immutable: Set<number> | undefined;
  /** The number of the file that is the dictionary of the site, by the manifest. */
  siteDictionary: number | undefined;
  /** Real paths of folders, with a separator at the end. */
  readonly folders: string[] = [];
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
      this.#lastPath = this.folders[this.#folderOf.at(file)] + path.slice(path.lastIndexOf("/") + 1);
      this.#lastFile = file;
    }
    return this.#lastPath + (this.kindOf(representation)?.extension ?? "");
  }

  addFile(path: string, link: string | undefined): void {
    this.#firsts.push(this.contents.length);
    this.#folderOf.push(this.folders.length - 1); // the last one
    this.paths.add(path);
    this.#add(0, link);
  }

  addVariant({ index }: VariantKind, link: string | undefined): void {
    this.#add(FIRST_VARIANT + index, link);
  }

  /** Takes note of which file a representation is in. */
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
