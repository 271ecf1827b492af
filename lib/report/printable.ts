/**
 * The characters that stand for bytes in a page: printable ones that HTML takes as they are. Two of these 91 hold 13 bits,
 * so that bytes take 1.23 of their space, and 1.33 in base64.
 */
const characters: readonly string[] = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))
  .filter((character) => !"&<>".includes(character));

const BITS = 13;

/** Writes bytes as text. */
export function toPrintable(bytes: Uint8Array): string {
  let [text, bits, held] = ["", 0, 0];
  const put = (): void => {
    const pair = bits % 2 ** BITS;
    text += characters[pair % 91]! + characters[Math.floor(pair / 91)]!;
  };
  for (const byte of bytes) {
    bits |= byte << held;
    held += 8;
    if (held < BITS) continue;
    put();
    bits >>= BITS;
    held -= BITS;
  }
  if (held > 0) put();
  return text;
}

/** Reads what {@linkcode toPrintable} wrote of `length` bytes. */
export function fromPrintable(text: string, length: number): Uint8Array<ArrayBuffer> {
  const values = new Map(characters.map((character, i) => [character, i]));
  const bytes = new Uint8Array(length);
  let [at, bits, held] = [0, 0, 0];
  for (let i = 0; i < text.length; i += 2) {
    bits |= (values.get(text[i]!)! + 91 * values.get(text[i + 1]!)!) << held;
    // The last pair may hold eight bits more than there are: what lies beyond the array is not kept.
    for (held += BITS; held >= 8; held -= 8, bits >>= 8) bytes[at++] = bits;
  }
  return bytes;
}
