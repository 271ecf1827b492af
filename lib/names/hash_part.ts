import {
  ABOVE_F,
  bitsOf,
  CAPITAL,
  DIGIT,
  JOINT,
  KIND,
  NONE,
  NOT_BASE32,
  NOT_BUN,
  SMALL,
  textLikelihood,
} from "./natural_text.ts";

/** The kinds of files that build tools name by hash: scripts, style sheets, and what these refer to. */
export type FileKind = "script" | "style" | "asset";

/**
 * By extension. Left out are documents, whose links stay; data, often of other origin; and source maps, which may
 * change while the name of the script stays.
 */
const kinds: ReadonlyMap<string, FileKind> = new Map([
  ...["js", "mjs"].map((each) => [each, "script"] as const),
  ["css", "style"],
  ...[
    ["wasm", "bin", "glb", "gltf"],
    ["woff2", "woff", "ttf", "otf", "eot"],
    ["png", "jpg", "jpeg", "gif", "webp", "avif", "jxl", "bmp", "ico", "cur", "svg"],
    ["mp4", "m4v", "mov", "webm", "ogv", "mp3", "m4a", "aac", "flac", "ogg", "opus", "wav"],
  ].flat().map((each) => [each, "asset"] as const),
]);

/** Extensions that may stand between a hash and the last one. */
const MIDDLE = /\.(?:min|chunk|bundle|async|module|lean|legacy)$/;

export interface FileName {
  /** The index at which the name begins. */
  readonly start: number;
  /** The index at which its extensions begin; a hash ends there. */
  readonly end: number;
  /** Undefined: build tools do not name such files by hash. */
  readonly kind: FileKind | undefined;
}

/** The kind of file that `path` is by its extension; undefined if build tools do not name such files by hash. */
export function fileKindOf(path: string): FileKind | undefined {
  return kinds.get(path.slice(path.lastIndexOf(".") + 1));
}

/** The name in `path`; undefined if it has no extension. */
export function fileNameOf(path: string): FileName | undefined {
  const start = path.lastIndexOf("/") + 1;
  const dot = path.lastIndexOf(".");
  if (dot <= start) return undefined;
  // Checked only if there is another dot, which most names lack.
  const isLonger = path.lastIndexOf(".", dot - 1) > start;
  const middle = isLonger ? MIDDLE.exec(path.slice(start, dot)) : null;
  return { start, end: middle ? start + middle.index : dot, kind: fileKindOf(path) };
}

/** The part of a path that is a hash of the content. */
export interface HashedPart {
  /** The index at which it begins. */
  readonly start: number;
  /** The index after its end. */
  readonly end: number;
}

/** Digits of hashes: hexadecimal; capitals (base32); small letters and digits (base36); both (base64url); others. */
export type Family = "hex" | "upper" | "lower" | "mixed" | "other";

/** The last part of a name, as far as it has the shape of a hash. */
export interface Tail extends HashedPart {
  /** The character before it: `.`, `-` or `_`, or `/` if the name is nothing but it. */
  readonly separator: string;
  readonly family: Family;
  /** Whether it has the traits of random digits that words, dates and versions mostly lack. */
  readonly isClear: boolean;
  /** Whether its number of hexadecimal digits is common in ids, and rare in hashes. */
  readonly isOfId: boolean;
  /** Whether all its characters are among those that Bun's bundler uses. */
  readonly isOfBun: boolean;
  /** The likelihood of text: see {@linkcode textLikelihood}. */
  readonly textLikelihood: number;
}

/** The maximum likelihood of text of hashes, above which a tail is a word, a date or a version; 0.6% of hashes are above. */
export const MAX_TEXT_LIKELIHOOD = 3;
/** The likelihood of text that nearly all random text is below, and little text by people. */
export const RANDOM = -3;

/** The lengths of build tools' hashes in base64url: Rollup any number up to 21, webpack 11 of xxHash or 22 of MD4. */
const LENGTHS = [8, 10, 11, 12, 16, 20, 21, 22];
/** The lengths of build tools' hexadecimal hashes: others are of ids, such as 24 of MongoDB's and 40 of git's. */
const HEX_LENGTHS = [8, 10, 12, 16, 20, 32, 64];
/** The lengths of hashes that are whole names: other tools make such ids of 24 and 32 digits. */
const WHOLE_NAMES = [16, 20];
const MIN_LENGTH = 8;
const MAX_HEX_LENGTH = 64;

/** The tails of the name from `name` to `end`: several if a part before one has, with it, the length of a hash. */
export function tailsOf(path: string, name: number, end: number): Tail[] {
  const hexadecimal = hexadecimalTail(path, name, end);
  if (hexadecimal) return [hexadecimal];
  const tails: Tail[] = [];
  for (const length of LENGTHS) {
    const tail = isSeparated(path, name, end - length) && otherTail(path, end - length, end);
    if (tail) tails.push(tail);
  }
  return tails;
}

function hexadecimalTail(path: string, name: number, end: number): Tail | undefined {
  let start = end;
  let digits = 0;
  let runs = 0;
  let last = NONE;
  for (; start > name; start--) {
    const bits = bitsOf(path.charCodeAt(start - 1));
    if (bits & ABOVE_F || !(bits & (SMALL | DIGIT))) break;
    const kind = bits & KIND;
    if (kind === DIGIT) digits++;
    if (kind !== last) runs++;
    last = kind;
  }
  const length = end - start;
  if (length < MIN_LENGTH || length > MAX_HEX_LENGTH) return undefined;
  const isWhole = start === name;
  if (isWhole ? !WHOLE_NAMES.includes(length) : !isSeparated(path, name, start)) return undefined;
  return {
    start,
    end,
    separator: isWhole ? "/" : path[start - 1],
    family: "hex",
    isClear: digits < length && runs > 2,
    isOfId: !HEX_LENGTHS.includes(length),
    isOfBun: true,
    textLikelihood: digits === 0 ? textLikelihood(path, start, end) : 0, // a word such as `facade`; dates are seen later
  };
}

function otherTail(path: string, start: number, end: number): Tail | undefined {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= bitsOf(path.charCodeAt(i));
  if (bits & NONE) return undefined;
  const family = familyOf(bits, end - start);
  const isVaried = family === "mixed" || (bits & DIGIT && (family === "lower" || family === "upper"));
  const score = textLikelihood(path, start, end);
  const isClear = Boolean(isVaried) && score <= RANDOM;
  const isOfBun = !(bits & NOT_BUN);
  return { start, end, separator: path[start - 1], family, isClear, isOfId: false, isOfBun, textLikelihood: score };
}

function familyOf(bits: number, length: number): Family {
  if (bits & SMALL && bits & CAPITAL) return "mixed";
  if (bits & JOINT || length !== MIN_LENGTH) return "other";
  if (bits & SMALL) return "lower";
  return bits & NOT_BASE32 && bits & ABOVE_F ? "other" : "upper";
}

/** Whether a separator precedes `start`, and a part of the name precedes that. */
function isSeparated(path: string, name: number, start: number): boolean {
  if (start < name + 2) return false;
  const code = path.charCodeAt(start - 1);
  return code === 0x2e || code === 0x2d || code === 0x5f; // . - _
}

/** Names that build tools give to the entries of a page, and to chunks without a name. */
const ENTRIES: ReadonlySet<string> = new Set(
  "chunk index main app root entry entry.client client bundle style styles polyfills runtime vendor".split(" "),
);
/** Names that many files of frameworks share, each in a folder of its own; a build puts all into one folder. */
const ROUTES: ReadonlySet<string> = new Set("route page layout loading error template default not-found".split(" "));
/** Names of entries by Bun's bundler. */
const ENTRIES_OF_BUN: ReadonlySet<string> = new Set(["chunk", "index"]);

/** The number of changes between letters and digits above which base32 or hexadecimal text is no version or size. */
const MANY_RUNS = 5;
const MANY_RUNS_OF_HEX = 4;

/** The maximum likelihood of text of a hash in base64url without other evidence: 87% of hashes are below. */
const RANDOM_BY_ITSELF = -10;

export function stemOf(path: string, name: number, { start }: Tail): string {
  return path.slice(name, Math.max(name, start - 1));
}

/** Whether the name before a tail of that family is one of {@linkcode ENTRIES}. */
export function isEntryName(stem: string, family: Family): boolean {
  return (family === "lower" ? ENTRIES_OF_BUN : ENTRIES).has(stem);
}

/** Whether a build may have any number of files with that name before the tail. */
export function isManyTimes(stem: string, family: Family): boolean {
  return ROUTES.has(stem) || isEntryName(stem, family);
}

/** Whether a tail after the name of an entry is a hash: few words and versions look as random. */
export function isHashOfEntry(stem: string, tail: Tail): boolean {
  if (!tail.isClear || !isEntryName(stem, tail.family)) return false;
  return tail.family !== "mixed" || tail.textLikelihood <= RANDOM_BY_ITSELF;
}

/** Whether the tail of a script's or style's name is a hash, without evidence from other names. */
export function isHashByItself(path: string, { start }: FileName, tail: Tail): boolean {
  if (tail.separator === "/") return false; // as ids are, too
  const stem = stemOf(path, start, tail);
  if (tail.family === "hex") return tail.isClear && (!tail.isOfId || isEntryName(stem, "hex"));
  if (tail.family === "upper") {
    if (stem === "chunk" && tail.textLikelihood <= MAX_TEXT_LIKELIHOOD) return true;
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
