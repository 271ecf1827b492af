import { CompressionError } from "./compression_error.ts";
import { CODE_LENGTHS, CODES, END_OF_STRING } from "./huffman_code.ts";

// A tree of tables with 256 places each, one after the other: a place is looked up with the next 8 bits, and tells either the
// symbol (its code's bits in this table << 8 | the byte), or the table to go on in (CHILD | its number). All that is common
// has 8 bits at most: one look a symbol.
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
 * Decodes a string literal's Huffman code.
 *
 * @param from The header block.
 * @param start The offset of the code in it.
 * @param end The offset of its end.
 * @param to The buffer for the bytes, from 0 on; at least `(end - start) * 8 / 5` long.
 * @returns How many bytes they are.
 * @throws {CompressionError} for EOS, or padding that is longer than 7 bits or not ones.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2}
 */
export function decodeHuffman(from: Uint8Array, start: number, end: number, to: Uint8Array): number {
  let length = 0;
  let window = 0; // the bits not used yet are its low ones; those above are stale
  let bits = 0;
  let table = 0; // where in TREE the table starts
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
