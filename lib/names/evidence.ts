import type { FileName } from "./file_name.ts";
import { keyOf, Shapes } from "./shapes.ts";
import { stemOf } from "./single_name.ts";
import type { Family, Tail } from "./tail.ts";

/** The families whose hashes a tail may be one of: one in base64url may by chance have no capital. */
const possible: Readonly<Record<Family, readonly Family[]>> = {
  hex: ["hex"],
  upper: ["upper", "mixed"],
  lower: ["lower", "mixed"],
  mixed: ["mixed"],
  other: ["mixed"],
};

/** A build names nearly all of its files by hash: a folder is believed if at least one in so many has a clear tail. */
const LEAST_SHARE = 4;

/** The most that a tail may look like text to pass for one of a family that it does not look like. */
const RANDOM_ELSEWHERE = -6;

/** Hexadecimal digits that webpack, its loaders and what is built on it take for assets. */
const WEBPACK_LENGTHS: ReadonlySet<number> = new Set([8, 16, 20, 32]);

/** How many assets a build refers to for each script or style at most, if their tails look like ids. */
const MOST_ASSETS = 16;

/** Assets that are as few beside scripts need not show themselves that they are hashed. */
const RARE = 4;

/** The evidence that the names in one folder give about each other, and about names in folders near. */
export class FolderEvidence {
  /** Of scripts and styles. */
  readonly code: Shapes = new Shapes();
  readonly assets: Shapes = new Shapes();

  /** Whether a file with that tail is one of many of its name. */
  hasIds(path: string, { start, kind }: FileName, tail: Tail): boolean {
    const shapes = kind === "asset" ? this.assets : this.code;
    return shapes.get(tail)?.hasIds(stemOf(path, start, tail), tail.family) ?? false;
  }

  /**
   * Whether the scripts and styles of this folder show that a build tool made `tail`, of a file in the folder of `own`.
   * An asset's must be such as the other assets' there, too: so a folder of ids beside a build is none.
   */
  vouchesFor(tail: Tail, isCode: boolean, own: FolderEvidence | undefined): boolean {
    if (this.code.clear * LEAST_SHARE < this.code.seen) return false;
    for (const [key, shape] of this.code) {
      if (!isComparable(key, tail, isCode)) continue;
      for (const family of possible[tail.family]) {
        if (!shape.isBelieved(family, key[0] === "/")) continue;
        const limit = family === tail.family ? shape.limit(family) : RANDOM_ELSEWHERE;
        if (tail.naturalness > limit || (family === "lower" && shape.isOfBun && !tail.isOfBun)) continue;
        if (isCode || (own && own.#fits(tail, family, this.code.files))) return true;
      }
    }
    return false;
  }

  /** Whether `tail` of an asset is as hashes of `family` are, and so are those of the other assets. */
  #fits(tail: Tail, family: Family, code: number): boolean {
    const { files, seen } = this.assets;
    const shape = this.assets.get(tail);
    if (!shape || tail.naturalness > shape.limit(family)) return false;
    const all = shape.of(family);
    if (all * LEAST_SHARE < seen) return false; // one of many pictures that somebody put there
    if (family !== tail.family) {
      const same = shape.of(tail.family);
      return all - same >= 4 * same && shape.clear(family) * 2 >= all;
    }
    const isRare = family !== "hex" && all * (files / seen) * RARE <= code;
    if (shape.clear(family) * 2 < all && !isRare) return false;
    return family === "mixed" || files <= MOST_ASSETS * (code + 1);
  }
}

/**
 * Whether scripts whose tails have the shape `key` tell about `tail`: those of the same shape. webpack takes hexadecimal
 * digits of other lengths for assets than for scripts, or makes them all of the name.
 */
function isComparable(key: string, tail: Tail, isCode: boolean): boolean {
  const shape = keyOf(tail);
  if (key === shape) return true;
  if (tail.family !== "hex") return false;
  if (tail.separator === "/") return key.slice(1) === shape.slice(1);
  return !isCode && tail.separator === "." && key[0] === "." && WEBPACK_LENGTHS.has(tail.end - tail.start);
}
