import {
  type Family,
  type FileName,
  fileNameOf,
  isHashOfEntry,
  isManyTimes,
  MAX_TEXT_LIKELIHOOD,
  RANDOM,
  stemOf,
  type Tail,
  tailsOf,
} from "./hash_part.ts";
import { bitsOf, KIND } from "./natural_text.ts";

/** The maximum number of distinct patterns to count. */
const MAX_PATTERNS = 64;

/** The number of patterns that make the tails of a folder credible, unless a tail follows the name of an entry. */
const MIN_PATTERNS: Readonly<Record<Family, number>> = { hex: 1, upper: 2, mixed: 3, lower: 5, other: Infinity };
/** The lower number if all tails are in the digits of Bun's hashes, which hardly any word consists of. */
const MIN_PATTERNS_OF_BUN = 3;
/** The number if names consist only of hashes, like ids. */
const MIN_WHOLE_PATTERNS = 3;

/** The maximum number of files whose names differ only in their hashes, since a build tool may merge many folders. */
const MAX_OF_ONE_NAME = 16;

/** The tails of one family, for one kind of files and one shape. */
class Tally {
  all = 0;
  /** The number of clear tails: see {@linkcode Tail}. */
  clear = 0;
  natural = 0;
  /** Whether a clear tail follows the name of an entry: `index`, `main`. */
  hasEntry = false;
  isOfId = false;
  /** The number of clear tails in the digits of Bun's hashes. */
  ofBun = 0;
  /** The patterns of capitals, small letters and digits in clear tails; random in hashes. */
  readonly patterns: Set<number> = new Set();
  /** The distinct clear tails: two files hardly ever have the same hash. */
  readonly texts: Set<string> = new Set();

  add(path: string, tail: Tail, isEntry: boolean): void {
    this.all++;
    if (tail.textLikelihood > MAX_TEXT_LIKELIHOOD) this.natural++;
    if (!tail.isClear) return;
    this.clear++;
    this.hasEntry ||= isEntry;
    this.isOfId = tail.isOfId;
    if (tail.isOfBun) this.ofBun++;
    if (this.texts.size >= MAX_PATTERNS) return;
    this.texts.add(path.slice(tail.start, tail.end));
    this.patterns.add(patternOf(path, tail));
  }
}

/** The tails of one kind of files with one length after one separator. */
export class Shape {
  readonly #tallies: Partial<Record<Family, Tally>> = {};
  /** The number of tails by the name before them. */
  readonly #stems = new Map<string, number>();
  readonly #believed: Partial<Record<Family, boolean>> = {};

  add(path: string, name: number, tail: Tail): void {
    const stem = stemOf(path, name, tail);
    const isEntry = isHashOfEntry(stem, tail);
    this.#stems.set(stem, (this.#stems.get(stem) ?? 0) + 1);
    (this.#tallies[tail.family] ??= new Tally()).add(path, tail, isEntry);
  }

  /** Whether tails that look like base36 are mostly in the digits of Bun's hashes. */
  get isOfBun(): boolean {
    const { clear, ofBun } = this.#tallies.lower ?? { clear: 0, ofBun: 0 };
    return ofBun * 10 >= clear * 9;
  }

  /** Whether many tails follow the name, as in ids of avatars or posts. */
  hasIds(stem: string, family: Family): boolean {
    return (this.#stems.get(stem) ?? 0) > MAX_OF_ONE_NAME && !isManyTimes(stem, family);
  }

  clear(family: Family): number {
    return this.#tallies[family]?.clear ?? 0;
  }

  /** Returns the number of tails that may be hashes of a family: a hash in base64url may look like another family's. */
  of(family: Family): number {
    const { mixed, lower, other } = this.#tallies;
    if (family !== "mixed") return this.#tallies[family]?.all ?? 0;
    return (mixed?.all ?? 0) + (lower?.all ?? 0) + (other?.all ?? 0);
  }

  /** Whether a build tool made these names; called once all are added. */
  isBelieved(family: Family, isWhole: boolean): boolean {
    return this.#believed[family] ??= this.#judge(family, isWhole);
  }

  #judge(family: Family, isWhole: boolean): boolean {
    const tally = this.#tallies[family];
    if (!tally || tally.clear * 5 < this.of(family) * 2 || (tally.isOfId && !tally.hasEntry)) return false;
    const { size } = tally.patterns;
    if (size * 4 < Math.min(tally.texts.size, MAX_PATTERNS)) return false; // made by counting, or by a naming scheme
    if (isWhole) return tally.clear >= MIN_WHOLE_PATTERNS;
    const isBun = family === "lower" && this.isOfBun;
    return size >=
      (tally.hasEntry && (family !== "lower" || isBun) ? 1 : isBun ? MIN_PATTERNS_OF_BUN : MIN_PATTERNS[family]);
  }

  /** Returns the maximum likelihood of text for a hash: lower if there are words among the tails. */
  limit(family: Family): number {
    const natural = this.#tallies[family]?.natural ?? 0;
    return natural > 1 && natural * 10 > this.of(family) ? RANDOM : MAX_TEXT_LIKELIHOOD;
  }
}

/** Returns the kinds of the first characters together with the family. */
function patternOf(path: string, { start, end, family }: Tail): number {
  let pattern = family.length;
  for (let i = start; i < Math.min(end, start + 8); i++) pattern = pattern * 16 + (bitsOf(path.charCodeAt(i)) & KIND);
  return pattern;
}

/** The maximum number of checked files of one kind in a folder: all files of a large folder would take many ms. */
const MAX_EXAMINED = 128;

/** The tails of files of one kind in a folder, by shape: their separator and length. */
export class Shapes {
  files = 0;
  /** The number of checked files. */
  seen = 0;
  /** The number of checked files with a clear tail. */
  clear = 0;
  readonly #shapes = new Map<string, Shape>();

  add(paths: readonly string[]): void {
    this.files += paths.length;
    for (const path of sampleOf(paths)) {
      const { start, end } = fileNameOf(path)!;
      let isClear = false;
      for (const tail of tailsOf(path, start, end)) {
        const key = keyOf(tail);
        const shape = this.#shapes.get(key) ?? new Shape();
        this.#shapes.set(key, shape);
        shape.add(path, start, tail);
        isClear ||= tail.isClear;
      }
      this.seen++;
      if (isClear) this.clear++;
    }
  }

  get(tail: Tail): Shape | undefined {
    return this.#shapes.get(keyOf(tail));
  }

  [Symbol.iterator](): IterableIterator<[string, Shape]> {
    return this.#shapes[Symbol.iterator]();
  }
}

export function keyOf({ separator, start, end }: Tail): string {
  return separator + (end - start);
}

/** Returns paths from all parts of a long list. */
function sampleOf(paths: readonly string[]): readonly string[] {
  const step = paths.length / MAX_EXAMINED;
  return step <= 1 ? paths : Array.from({ length: MAX_EXAMINED }, (_, i) => paths[Math.floor(i * step)]);
}

/** The families that a tail may belong to: by chance, a hash in base64url may have no capitals. */
const possible: Readonly<Record<Family, readonly Family[]>> = {
  hex: ["hex"],
  upper: ["upper", "mixed"],
  lower: ["lower", "mixed"],
  mixed: ["mixed"],
  other: ["mixed"],
};

/** The minimum share of files with a clear tail, as its inverse: builds name nearly all of their files by hash. */
const MIN_SHARE = 4;

/** The maximum likelihood of text of a tail that is counted for a family it does not look like. */
const RANDOM_ELSEWHERE = -6;

/** The numbers of hexadecimal digits that webpack and tools based on it use for assets. */
const WEBPACK_LENGTHS: ReadonlySet<number> = new Set([8, 16, 20, 32]);

/** The maximum number of assets for each script or style of a build, if their tails look like ids. */
const MAX_ASSETS = 16;

/** The number of assets up to which they need no separate evidence beside scripts. */
const RARE = 4;

/** The evidence that the names in one folder provide about each other, and about names in nearby folders. */
export class FolderEvidence {
  /** The shapes of scripts and styles. */
  readonly code: Shapes = new Shapes();
  readonly assets: Shapes = new Shapes();

  /** Whether a file with a tail is one of many with its name. */
  hasIds(path: string, { start, kind }: FileName, tail: Tail): boolean {
    const shapes = kind === "asset" ? this.assets : this.code;
    return shapes.get(tail)?.hasIds(stemOf(path, start, tail), tail.family) ?? false;
  }

  /**
   * Whether the scripts and styles of this folder show that a build tool made `tail`, for a file in the folder of
   * `own`. For an asset, the folder's other assets must match, too, unlike in a folder of ids.
   */
  vouchesFor(tail: Tail, isCode: boolean, own: FolderEvidence | undefined): boolean {
    if (this.code.clear * MIN_SHARE < this.code.seen) return false;
    for (const [key, shape] of this.code) {
      if (!isComparable(key, tail, isCode)) continue;
      for (const family of possible[tail.family]) {
        if (!shape.isBelieved(family, key[0] === "/")) continue;
        const limit = family === tail.family ? shape.limit(family) : RANDOM_ELSEWHERE;
        if (tail.textLikelihood > limit || (family === "lower" && shape.isOfBun && !tail.isOfBun)) continue;
        if (isCode || (own && own.#fits(tail, family, this.code.files))) return true;
      }
    }
    return false;
  }

  /** Whether `tail` of an asset and the tails of the other assets look like hashes of `family`. */
  #fits(tail: Tail, family: Family, code: number): boolean {
    const { files, seen } = this.assets;
    const shape = this.assets.get(tail);
    if (!shape || tail.textLikelihood > shape.limit(family)) return false;
    const all = shape.of(family);
    if (all * MIN_SHARE < seen) return false; // one picture with a hand-written name among many
    if (family !== tail.family) {
      const same = shape.of(tail.family);
      return all - same >= 4 * same && shape.clear(family) * 2 >= all;
    }
    const isRare = family !== "hex" && all * (files / seen) * RARE <= code;
    if (shape.clear(family) * 2 < all && !isRare) return false;
    return family === "mixed" || files <= MAX_ASSETS * (code + 1);
  }
}

/** Whether scripts with tails of the shape `key` are evidence for `tail`: its own shape, or one of webpack's lengths. */
function isComparable(key: string, tail: Tail, isCode: boolean): boolean {
  const shape = keyOf(tail);
  if (key === shape) return true;
  if (tail.family !== "hex") return false;
  if (tail.separator === "/") return key.slice(1) === shape.slice(1);
  return !isCode && tail.separator === "." && key[0] === "." && WEBPACK_LENGTHS.has(tail.end - tail.start);
}
