import { ABOVE_F, bitsOf, CAPITAL, DIGIT, JOINT, KIND, NONE, NOT_BASE32, NOT_BUN, SMALL } from "./characters.ts";
import { naturalness } from "./natural_text.ts";

/** The part of a path that is a hash of the content. */
export interface HashedPart {
  /** The index at which it begins. */
  readonly start: number;
  /** The index after its end. */
  readonly end: number;
}

/**
 * The digits that a hash is written in: hexadecimal; capitals as in base32 or hexadecimal; small letters and digits as in
 * base36; capitals and small letters as in base64url; or another mixture of what base64url has.
 */
export type Family = "hex" | "upper" | "lower" | "mixed" | "other";

/** The last part of a name, as far as it has the shape of a hash. */
export interface Tail extends HashedPart {
  /** The character before it: `.`, `-` or `_`, or `/` if the name is nothing but it. */
  readonly separator: string;
  readonly family: Family;
  /** Whether it has what random digits mostly have, and words, dates and versions mostly have not. */
  readonly isClear: boolean;
  /** Whether it has as many hexadecimal digits as ids have, and hashes seldom. */
  readonly isOfId: boolean;
  /** Whether all its characters are among those that Bun's bundler uses. */
  readonly isOfBun: boolean;
  /** How much it looks like text: see {@linkcode naturalness}. */
  readonly naturalness: number;
}

/** A tail that looks more like text is a word, a date or a version: of hashes, 0.6% are above it. */
export const MOST_NATURAL = 3;
/** Nearly all that is random is below it, and little that people write. */
export const RANDOM = -3;

/** How many characters in base64url build tools take: Rollup any number up to 21, webpack 11 of xxHash or 22 of MD4. */
const LENGTHS = [8, 10, 11, 12, 16, 20, 21, 22];
/** How many hexadecimal digits they take: others are of ids, such as 24 of MongoDB's and 40 of git's. */
const HEX_LENGTHS = [8, 10, 12, 16, 20, 32, 64];
/** How many they take where the name is nothing else: others do so for ids of 24 and 32. */
const WHOLE_NAMES = [16, 20];
const SHORTEST = 8;
const LONGEST_HEX = 64;

/**
 * The tails of the name in `path` that begins at `name` and ends, but for its extensions, at `end`: several if a part of
 * the name before one has a length that, with it, a hash may have.
 */
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
  if (length < SHORTEST || length > LONGEST_HEX) return undefined;
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
    naturalness: digits === 0 ? naturalness(path, start, end) : 0, // a word such as `facade`; dates are seen later
  };
}

function otherTail(path: string, start: number, end: number): Tail | undefined {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= bitsOf(path.charCodeAt(i));
  if (bits & NONE) return undefined;
  const family = familyOf(bits, end - start);
  const isVaried = family === "mixed" || (bits & DIGIT && (family === "lower" || family === "upper"));
  const score = naturalness(path, start, end);
  const isClear = Boolean(isVaried) && score <= RANDOM;
  const isOfBun = !(bits & NOT_BUN);
  return { start, end, separator: path[start - 1], family, isClear, isOfId: false, isOfBun, naturalness: score };
}

function familyOf(bits: number, length: number): Family {
  if (bits & SMALL && bits & CAPITAL) return "mixed";
  if (bits & JOINT || length !== SHORTEST) return "other";
  if (bits & SMALL) return "lower";
  return bits & NOT_BASE32 && bits & ABOVE_F ? "other" : "upper";
}

/** Whether there is a separator before `start`, and something of the name before that. */
function isSeparated(path: string, name: number, start: number): boolean {
  if (start < name + 2) return false;
  const code = path.charCodeAt(start - 1);
  return code === 0x2e || code === 0x2d || code === 0x5f; // . - _
}
