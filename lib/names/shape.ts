import { bitsOf, KIND } from "./characters.ts";
import { isHashOfEntry, isManyTimes, stemOf } from "./single_name.ts";
import { type Family, MOST_NATURAL, RANDOM, type Tail } from "./tail.ts";

/** How many patterns are told apart; there is no need to know of more. */
const MOST_PATTERNS = 64;

/** How many patterns it takes to believe a folder, where no tail follows the name of an entry. */
const LEAST: Readonly<Record<Family, number>> = { hex: 1, upper: 2, mixed: 3, lower: 5, other: Infinity };
/** Fewer do where all are in the digits that Bun has, in which hardly a word can be written. */
const LEAST_OF_BUN = 3;
/** How many it takes where names are nothing but hashes, as ids are. */
const LEAST_WHOLE = 3;

/** How many files may have the same name but for their hashes: a build tool may put those of many folders into one. */
const MOST_OF_ONE_NAME = 16;

/** The tails of one family, of one kind of files and one shape. */
class Tally {
  all = 0;
  /** See {@linkcode Tail}. */
  clear = 0;
  natural = 0;
  /** Whether a clear one follows the name of an entry: `index`, `main`. */
  hasEntry = false;
  isOfId = false;
  /** How many of the clear ones may be of Bun's bundler. */
  ofBun = 0;
  /** The places of capitals, small letters and digits in the clear ones: hashes, and few others, have them anywhere. */
  readonly patterns: Set<number> = new Set();
  /** The clear ones: hardly ever are two files' hashes the same. */
  readonly texts: Set<string> = new Set();

  add(path: string, tail: Tail, isEntry: boolean): void {
    this.all++;
    if (tail.naturalness > MOST_NATURAL) this.natural++;
    if (!tail.isClear) return;
    this.clear++;
    this.hasEntry ||= isEntry;
    this.isOfId = tail.isOfId;
    if (tail.isOfBun) this.ofBun++;
    if (this.texts.size >= MOST_PATTERNS) return;
    this.texts.add(path.slice(tail.start, tail.end));
    this.patterns.add(patternOf(path, tail));
  }
}

/** The tails of one kind of files that have one length behind one separator. */
export class Shape {
  readonly #tallies: Partial<Record<Family, Tally>> = {};
  /** How many have each name before them. */
  readonly #stems = new Map<string, number>();
  readonly #believed: Partial<Record<Family, boolean>> = {};

  add(path: string, name: number, tail: Tail): void {
    const stem = stemOf(path, name, tail);
    const isEntry = isHashOfEntry(stem, tail);
    this.#stems.set(stem, (this.#stems.get(stem) ?? 0) + 1);
    (this.#tallies[tail.family] ??= new Tally()).add(path, tail, isEntry);
  }

  /** Whether those that look like base36 are mostly in the digits of Bun's bundler. */
  get isOfBun(): boolean {
    const { clear, ofBun } = this.#tallies.lower ?? { clear: 0, ofBun: 0 };
    return ofBun * 10 >= clear * 9;
  }

  /** Whether the name before a tail comes with many, as those of avatars or posts with ids do. */
  hasIds(stem: string, family: Family): boolean {
    return (this.#stems.get(stem) ?? 0) > MOST_OF_ONE_NAME && !isManyTimes(stem, family);
  }

  clear(family: Family): number {
    return this.#tallies[family]?.clear ?? 0;
  }

  /** How many tails hashes of that family account for: those in base64url may look like one of others. */
  of(family: Family): number {
    const { mixed, lower, other } = this.#tallies;
    if (family !== "mixed") return this.#tallies[family]?.all ?? 0;
    return (mixed?.all ?? 0) + (lower?.all ?? 0) + (other?.all ?? 0);
  }

  /** Whether a build tool made these names; asked when all are added. */
  isBelieved(family: Family, isWhole: boolean): boolean {
    return this.#believed[family] ??= this.#judge(family, isWhole);
  }

  #judge(family: Family, isWhole: boolean): boolean {
    const tally = this.#tallies[family];
    if (!tally || tally.clear * 5 < this.of(family) * 2 || (tally.isOfId && !tally.hasEntry)) return false;
    const { size } = tally.patterns;
    if (size * 4 < Math.min(tally.texts.size, MOST_PATTERNS)) return false; // made by counting, or by a scheme
    if (isWhole) return tally.clear >= LEAST_WHOLE;
    const isBun = family === "lower" && this.isOfBun;
    return size >= (tally.hasEntry && (family !== "lower" || isBun) ? 1 : isBun ? LEAST_OF_BUN : LEAST[family]);
  }

  /** The most that a tail may look like text: less where there are words among the others. */
  limit(family: Family): number {
    const natural = this.#tallies[family]?.natural ?? 0;
    return natural > 1 && natural * 10 > this.of(family) ? RANDOM : MOST_NATURAL;
  }
}

/** The kinds of the first characters, and the family. */
function patternOf(path: string, { start, end, family }: Tail): number {
  let pattern = family.length;
  for (let i = start; i < Math.min(end, start + 8); i++) pattern = pattern * 16 + (bitsOf(path.charCodeAt(i)) & KIND);
  return pattern;
}
