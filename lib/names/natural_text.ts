/** The kinds of characters, a bit each. In hashes, the kind changes at nearly every step; in words, rarely. */
export const SMALL = 1;
export const CAPITAL = 2;
export const DIGIT = 4;
/** `-` and `_`. */
export const JOINT = 8;
/** All characters outside base64url. */
export const NONE = 16;
/** The bits of kinds, exactly one of which each character has; further bits are properties. */
export const KIND = 31;
/** `g` to `z` and `G` to `Z`: not hexadecimal. */
export const ABOVE_F = 32;
/** `0`, `1`, `8` and `9`: not base32. */
export const NOT_BASE32 = 64;
/** `i`, `l`, `o` and `u`: not in Bun's base32, which has small letters, and in which hardly any word can be written. */
export const NOT_BUN = 128;

const bits = new Uint8Array(128).fill(NONE);
const kinds = [["abcdefghijklmnopqrstuvwxyz", SMALL], ["ABCDEFGHIJKLMNOPQRSTUVWXYZ", CAPITAL], ["0123456789", DIGIT], [
  "-_",
  JOINT,
]] as const;
for (const [characters, kind] of kinds) {
  for (const character of characters) {
    const more = (/[g-z]/i.test(character) ? ABOVE_F : 0) | (/[0189]/.test(character) ? NOT_BASE32 : 0) |
      (/[ilou]/.test(character) ? NOT_BUN : 0);
    bits[character.charCodeAt(0)] = kind | more;
  }
}

/** Returns the bits of a UTF-16 code unit; NONE outside a text. */
export function bitsOf(code: number): number {
  return code < bits.length ? bits[code] : NONE;
}

/**
 * The frequency with which a letter follows another one in English and technical words, relative to chance. 4 means
 * equal; each step doubles or halves it. There is a row for each first letter, and a digit for each second one. Counted
 * in 15,000 words of the documentation of npm packages.
 */
const PAIRS = (
  "16651351514757050767443242" + "52115000410610410442400020" + "60416006505510700536400020" +
  "52137121610311510441421020" + "64675542422657353776354531" + "40005400500400500422400030" +
  "40006134400324400531400010" + "60006000500121500324300020" + "54655550102657641566150305" +
  "20003000100000300040200000" + "30015010400202210141100020" + "61247210702621620044420060" +
  "63026000601241550131400010" + "62666472624324531267332031" + "44552342313567550755645220" +
  "60016004500510540645400010" + "00000000000000000000400000" + "72547240704344630465432040" +
  "51527205603432551167512030" + "61427215710422620665402050" + "44435230401546240555000100" +
  "50006000500000300010000000" + "40004003400103300330000000" + "10203000300010040004000000" +
  "22112100200223240132000000" + "30005000300000100000000001"
).split("").map(Number);

/** The score of a change between letters of one case and digits. */
const LETTER_DIGIT = -2;
const DIGIT_LETTER = -5.5;
const DIGIT_DIGIT = 1;
const AT_JOINT = -0.5;

/** The score of that change in text of both cases, which is also scored by its beginning: `Data`, `data` or `DATA`. */
const CAPITALIZED = -3;
const SMALL_WORD = -4;
const ALL_CAPITALS = -8;
const DIGIT_LETTER_OF_BOTH = -2;
const DIGIT_DIGIT_OF_BOTH = 1.5;
const AT_JOINT_OF_BOTH = -4;
/** The offset that gives texts of one and of both cases equal scores. */
const BOTH_CASES = 9;

/** Letters as in `checkBox` or `DataView`. Only 2% of hashes look so; nearly all of these are classified as text. */
const CAMEL_CASE = /^[A-Z]?[a-z]+(?:[A-Z][a-z]+)+$|^[A-Z][a-z]+$/;
const CASE_OF_WORDS = 3;

const A = "a".charCodeAt(0);
/** The bit that distinguishes small letters from capitals. */
const CASE = 0x20;

/**
 * Scores whether base64url text looks like words and numbers or like random text, by a logistic regression over names
 * and hashes. Of hashes of 8 characters, 0.5% are above 3; of words of that length, 90%.
 */
export function textLikelihood(text: string, start: number, end: number): number {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= bitsOf(text.charCodeAt(i));
  return bits & SMALL && bits & CAPITAL
    ? textLikelihoodOfBoth(text, start, end)
    : textLikelihoodOfOne(text, start, end);
}

function textLikelihoodOfOne(text: string, start: number, end: number): number {
  let sum = 0;
  for (let i = start + 1; i < end; i++) {
    const [first, second] = [kindAt(text, i - 1), kindAt(text, i)];
    if (first === JOINT || second === JOINT) sum += AT_JOINT;
    else if (first === DIGIT) sum += second === DIGIT ? DIGIT_DIGIT : DIGIT_LETTER;
    else sum += second === DIGIT ? LETTER_DIGIT : pairAt(text, i);
  }
  return sum;
}

function textLikelihoodOfBoth(text: string, start: number, end: number): number {
  let sum = BOTH_CASES;
  let first = NONE;
  for (let i = start; i < end; i++) {
    const second = kindAt(text, i);
    const isCapitalized = second === CAPITAL && i + 1 < end && kindAt(text, i + 1) === SMALL;
    const isWithin = first === second ? !isCapitalized : first === CAPITAL && second === SMALL;
    if (first === JOINT || (second === JOINT && first !== NONE)) sum += AT_JOINT_OF_BOTH;
    else if (first === DIGIT) sum += second === DIGIT ? DIGIT_DIGIT_OF_BOTH : DIGIT_LETTER_OF_BOTH;
    if (second === SMALL || second === CAPITAL) {
      if (isWithin) sum += pairAt(text, i);
      else sum += isCapitalized ? CAPITALIZED : second === SMALL ? SMALL_WORD : ALL_CAPITALS;
    }
    first = second;
  }
  return CAMEL_CASE.test(text.slice(start, end)) ? sum + CASE_OF_WORDS : sum;
}

function kindAt(text: string, index: number): number {
  return bitsOf(text.charCodeAt(index)) & KIND;
}

/** Returns the frequency with which the letter at `index` follows the one before it. */
function pairAt(text: string, index: number): number {
  const [before, code] = [text.charCodeAt(index - 1), text.charCodeAt(index)];
  return PAIRS[((before | CASE) - A) * 26 + (code | CASE) - A] - 4;
}
