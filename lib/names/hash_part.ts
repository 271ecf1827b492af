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

/** The kinds of files that build tools name by hash: scripts, style sheets, and files they refer to. */
export type FileKind = "script" | "style" | "asset";

/**
 * The kinds by extension. Not included: documents, whose links must stay valid; data, often of other origin; and source
 * maps, which may change while their script's name stays.
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

/** Extensions that may stand between a hash and the last extension. */
const MIDDLE = /\.(?:min|chunk|bundle|async|module|lean|legacy)$/;

export interface FileName {
  /** The index of the name. */
  readonly start: number;
  /** The index of the name's extensions, which follow a hash. */
  readonly end: number;
  /** The kind of file; undefined if build tools do not name such files by hash. */
  readonly kind: FileKind | undefined;
}

/** Returns the kind of file of `path` by its extension; undefined if build tools do not name such files by hash. */
export function fileKindOf(path: string): FileKind | undefined {
  return kinds.get(path.slice(path.lastIndexOf(".") + 1));
}

/** Returns the name in `path`; undefined if it has no extension. */
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
  readonly start: number;
  /** The index after its end. */
  readonly end: number;
}

/** The digits of a hash: hexadecimal; capitals (base32); small letters and digits (base36); both (base64url); others. */
export type Family = "hex" | "upper" | "lower" | "mixed" | "other";

/** The last part of a name, if it has the shape of a hash. */
export interface Tail extends HashedPart {
  /** The character before the tail: `.`, `-` or `_`, or `/` if it is the whole name. */
  readonly separator: string;
  readonly family: Family;
  /** Whether the tail looks random, unlike most words, dates and versions. */
  readonly isClear: boolean;
  /** Whether its number of hexadecimal digits is common in ids, and rare in hashes. */
  readonly isOfId: boolean;
  /** Whether all its characters are digits of Bun's hashes. */
  readonly isOfBun: boolean;
  readonly textLikelihood: number;
}

/** The maximum likelihood of text for hashes, above which a tail is a word, a date or a version; 0.6% of hashes exceed it. */
export const MAX_TEXT_LIKELIHOOD = 3;
/** The likelihood of text below which nearly all random text is, and little written text. */
export const RANDOM = -3;

/** The lengths of build tools' base64url hashes: in Rollup any number up to 21, in webpack 11 for xxHash or 22 for MD4. */
const LENGTHS = [8, 10, 11, 12, 16, 20, 21, 22];
/** The lengths of build tools' hexadecimal hashes; other lengths are ids', such as 24 for MongoDB and 40 for git. */
const HEX_LENGTHS = [8, 10, 12, 16, 20, 32, 64];
/** The lengths of hashes that are whole names: other tools make ids of 24 and 32 digits. */
const WHOLE_NAMES = [16, 20];
const MIN_LENGTH = 8;
const MAX_HEX_LENGTH = 64;

/** Returns the tails of the name from `name` to `end`: several if a preceding part, together with it, also has the length of a hash. */
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
    // A word such as `facade`; dates are checked later.
    textLikelihood: digits === 0 ? textLikelihood(path, start, end) : 0,
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
/** Names that many files of frameworks share, each in its own folder; a build moves all of them to one folder. */
const ROUTES: ReadonlySet<string> = new Set("route page layout loading error template default not-found".split(" "));
/** Names of entries in Bun's bundler. */
const ENTRIES_OF_BUN: ReadonlySet<string> = new Set(["chunk", "index"]);

/** The number of changes between letters and digits above which base32 or hexadecimal text is not a version or size. */
const MANY_RUNS = 5;
const MANY_RUNS_OF_HEX = 4;

/** The maximum likelihood of text of a hash in base64url without other evidence: 87% of hashes are below. */
const RANDOM_BY_ITSELF = -10;

export function stemOf(path: string, name: number, { start }: Tail): string {
  return path.slice(name, Math.max(name, start - 1));
}

/** Whether the name before a tail of a family is one of {@linkcode ENTRIES}. */
export function isEntryName(stem: string, family: Family): boolean {
  return (family === "lower" ? ENTRIES_OF_BUN : ENTRIES).has(stem);
}

/** Whether a build may have any number of files with a name before the tail. */
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
  if (tail.separator === "/") return false; // ids in paths look the same
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
