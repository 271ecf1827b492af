import { bitsOf, KIND } from "./characters.ts";
import type { FileName } from "./file_name.ts";
import { type Family, MOST_NATURAL, type Tail } from "./tail.ts";

/** Names that build tools give to what a page begins with, and to a chunk that has none. */
const ENTRIES: ReadonlySet<string> = new Set(
  "chunk index main app root entry entry.client client bundle style styles polyfills runtime vendor".split(" "),
);
/** Names that many files of frameworks have, each in a folder of its own, which all come into one in a build. */
const ROUTES: ReadonlySet<string> = new Set("route page layout loading error template default not-found".split(" "));
/** Such names of Bun's bundler. */
const ENTRIES_OF_BUN: ReadonlySet<string> = new Set(["chunk", "index"]);

/** Changes between letters and digits that are more than versions and sizes have: in base32, and in hexadecimal. */
const MANY_RUNS = 5;
const MANY_RUNS_OF_HEX = 4;

/** The most that a tail in base64url may look like text if no other name tells anything: 87% of hashes are below. */
const RANDOM_BY_ITSELF = -10;

/** The name before a tail. */
export function stemOf(path: string, name: number, { start }: Tail): string {
  return path.slice(name, Math.max(name, start - 1));
}

/** Whether the name before a tail of that family is one of {@linkcode ENTRIES}. */
export function isEntryName(stem: string, family: Family): boolean {
  return (family === "lower" ? ENTRIES_OF_BUN : ENTRIES).has(stem);
}

/** Whether a build has as many files as it likes with that name before the tail. */
export function isManyTimes(stem: string, family: Family): boolean {
  return ROUTES.has(stem) || isEntryName(stem, family);
}

/** Whether a tail behind the name of an entry is a hash: few words and versions look as random. */
export function isHashOfEntry(stem: string, tail: Tail): boolean {
  if (!tail.isClear || !isEntryName(stem, tail.family)) return false;
  return tail.family !== "mixed" || tail.naturalness <= RANDOM_BY_ITSELF;
}

/** Whether the tail of a script's or style's name is a hash, whatever the names around it. */
export function isHashByItself(path: string, { start }: FileName, tail: Tail): boolean {
  if (tail.separator === "/") return false; // as ids are, too
  const stem = stemOf(path, start, tail);
  if (tail.family === "hex") return tail.isClear && (!tail.isOfId || isEntryName(stem, "hex"));
  if (tail.family === "upper") {
    if (stem === "chunk" && tail.naturalness <= MOST_NATURAL) return true;
    const isHex = /^[\dA-F]+$/.test(path.slice(tail.start, tail.end));
    return tail.isClear && runsIn(path, tail) >= (isHex ? MANY_RUNS_OF_HEX : MANY_RUNS);
  }
  return isHashOfEntry(stem, tail) && (tail.family === "mixed" || tail.isOfBun);
}

function runsIn(path: string, { start, end }: Tail): number {
  let runs = 0;
  let last = 0;
  for (let i = start; i < end; i++) {
    const kind = bitsOf(path.charCodeAt(i)) & KIND;
    if (kind !== last) runs++;
    last = kind;
  }
  return runs;
}
