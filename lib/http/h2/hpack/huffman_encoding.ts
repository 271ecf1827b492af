import { CODE_LENGTHS, CODES } from "./huffman_code.ts";

/**
 * How long a text is in Huffman code.
 *
 * @param text A byte string.
 * @returns Bytes.
 */
export function huffmanLength(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += CODE_LENGTHS[text.charCodeAt(i) & 0xff];
  return (bits + 7) >>> 3;
}

/**
 * Writes a text in Huffman code, padded with ones.
 *
 * @param text A byte string.
 * @param to The buffer to write to.
 * @param at From where on; there must be room for {@link huffmanLength} bytes.
 * @returns Where it ends.
 * @see {@link https://www.rfc-editor.org/rfc/rfc7541#section-5.2}
 */
export function encodeHuffman(text: string, to: Uint8Array, at: number): number {
  let window = 0; // the bits not written yet are its low ones; those above are stale
  let bits = 0; // at most 7 before a code is added
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let length = CODE_LENGTHS[symbol];
    let code = CODES[symbol];
    if (length > 24) {
      // Would not fit into 32 bits: its start first.
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
