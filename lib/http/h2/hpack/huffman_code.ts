// Bits of each code, as digits of base 31; the last one is EOS. The code is canonical, so that the lengths say it all.
const LENGTHS = "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad" +
  "67777777777777777777777878djde6f56565666577666567655677777fbedskm" +
  "kkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqk" +
  "jmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu";

/** The symbol for the end in the Huffman code; it must never be sent. */
export const END_OF_STRING = 256;

/** Bits of the Huffman code of each byte, and of {@link END_OF_STRING}. */
export const CODE_LENGTHS: Uint8Array = Uint8Array.from(LENGTHS, (digit) => parseInt(digit, 31));

/**
 * The Huffman code of each byte, and of {@link END_OF_STRING}, in the low bits.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#appendix-B}
 */
export const CODES: Uint32Array = canonicalCodes(CODE_LENGTHS);

function canonicalCodes(lengths: Uint8Array): Uint32Array {
  const codes = new Uint32Array(lengths.length);
  let next = 0;
  for (let length = 1; length <= 30; length++) {
    next *= 2;
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] === length) codes[symbol] = next++;
    }
  }
  return codes;
}
