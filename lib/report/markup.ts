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

/** Text that is HTML already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly (Markup | undefined)[];

/** Makes HTML of a template: what is put in is escaped, unless it is {@linkcode Markup}; undefined is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1]) + part));
}

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The name of a file, with characters spelt out that control a line or the direction of text: none passes for another.
 */
export function visibleName(name: string): string {
  return name.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// deno-lint-ignore no-control-regex -- these are what is looked for
const HIDDEN = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
