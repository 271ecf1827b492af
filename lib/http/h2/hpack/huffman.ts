/** A header block that cannot be decoded: the tables of both sides may differ afterwards. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.3} */
export class CompressionError extends Error {
  override readonly name: string = "CompressionError";
}

// The bits of each code, as digits of base 31; the last one is EOS. The code is canonical: lengths determine it.
const LENGTHS = "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad" +
  "67777777777777777777777878djde6f56565666577666567655677777fbedskm" +
  "kkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqk" +
  "jmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu";

/** The symbol for the end in the Huffman code; it must never be sent. */
export const END_OF_STRING = 256;

/** The number of bits of the Huffman code of each byte, and of {@link END_OF_STRING}. */
export const CODE_LENGTHS: Uint8Array = Uint8Array.from(LENGTHS, (digit) => parseInt(digit, 31));

/** The codes, in the low bits. @see {@link https://www.rfc-editor.org/rfc/rfc7541#appendix-B} */
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

// A tree of tables of 256 places, one after the other. The place of the next 8 bits has a symbol (the bits of its code in this table << 8 | the byte), or the next table
// (CHILD | its number).
const CHILD = 0x8000;
const END = 0x7fff;
const TREE: Uint16Array = tree();

function tree(): Uint16Array {
  const places = new Array<number>(256).fill(0);
  for (let symbol = 0; symbol < CODES.length; symbol++) {
    let table = 0;
    let rest = CODE_LENGTHS[symbol];
    for (; rest > 8; rest -= 8) {
      const place = table * 256 + ((CODES[symbol] >>> (rest - 8)) & 0xff);
      if (places[place] === 0) {
        places[place] = CHILD | (places.length >> 8);
        places.push(...new Array<number>(256).fill(0));
      }
      table = places[place] & ~CHILD;
    }
    const first = table * 256 + ((CODES[symbol] << (8 - rest)) & 0xff);
    places.fill(symbol === END_OF_STRING ? END : (rest << 8) | symbol, first, first + (1 << (8 - rest)));
  }
  return Uint16Array.from(places);
}

/**
 * Decodes a string literal's Huffman code to the start of `to`, which is at least `(end - start) * 8 / 5` long. Returns the length.
 * @throws {CompressionError} for EOS, or padding that is longer than 7 bits or not ones.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2}
 */
export function decodeHuffman(from: Uint8Array, start: number, end: number, to: Uint8Array): number {
  let length = 0;
  let window = 0; // the unused bits are the low ones; higher ones are stale
  let bits = 0;
  let table = 0; // the start of the table in TREE
  for (let at = start; at < end; at++) {
    window = (window << 8) | from[at];
    bits += 8;
    while (bits >= 8) {
      const place = TREE[table + ((window >>> (bits - 8)) & 0xff)];
      if (place < END) {
        to[length++] = place & 0xff;
        bits -= place >>> 8;
        table = 0;
      } else {
        if (place === END) throw new CompressionError("a Huffman string has EOS in it");
        bits -= 8;
        table = (place & 0xff) << 8;
      }
    }
  }
  // Fewer than 8 bits are left: codes of 5 to 7 bits, or the rest of a long one, then padding.
  while (bits > 0) {
    const place = TREE[table + ((window << (8 - bits)) & 0xff)];
    if (place >= END || place >>> 8 > bits) break;
    to[length++] = place & 0xff;
    bits -= place >>> 8;
    table = 0;
  }
  const ones = (1 << bits) - 1;
  if (table !== 0) throw new CompressionError("a Huffman string has more than 7 bits of padding, or is cut");
  if ((window & ones) !== ones) throw new CompressionError("a Huffman string's padding is not ones");
  return length;
}

export function huffmanLength(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += CODE_LENGTHS[text.charCodeAt(i) & 0xff];
  return (bits + 7) >>> 3;
}

/** Writes a byte string in Huffman code, padded with ones; there must be room. Returns the end's offset. */
export function encodeHuffman(text: string, to: Uint8Array, at: number): number {
  let window = 0; // the unwritten bits are the low ones; higher ones are stale
  let bits = 0; // at most 7 before a code is added
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let length = CODE_LENGTHS[symbol];
    let code = CODES[symbol];
    if (length > 24) {
      // The code would not fit into 32 bits: its start is added first.
      window = (window << 8) | (code >>> (length - 8));
      to[at++] = window >>> bits;
      length -= 8;
      code &= (1 << length) - 1;
    }
    window = (window << length) | code;
    bits += length;
    while (bits >= 8) {
      bits -= 8;
      to[at++] = window >>> bits;
    }
  }
  if (bits > 0) to[at++] = (window << (8 - bits)) | (0xff >>> bits);
  return at;
}
