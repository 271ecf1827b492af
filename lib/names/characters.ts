/** Kinds of characters, a bit each. Hashes go from one to another at nearly every step, words seldom. */
export const SMALL = 1;
export const CAPITAL = 2;
export const DIGIT = 4;
/** `-` and `_`. */
export const JOINT = 8;
/** All that is not in base64url. */
export const NONE = 16;
/** The bits of these, of which every character has one; those that follow say more of it. */
export const KIND = 31;
/** `g` to `z` and `G` to `Z`: not in hexadecimal. */
export const ABOVE_F = 32;
/** `0`, `1`, `8` and `9`: not in base32. */
export const NOT_BASE32 = 64;
/** `i`, `l`, `o` and `u`: not in the base32 that Bun has, in small letters, in which hardly a word can be written. */
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

/** The bits of a UTF-16 code unit; of none, too. */
export function bitsOf(code: number): number {
  return code < bits.length ? bits[code] : NONE;
}
