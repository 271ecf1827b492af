import type { Reference, ReferenceKind } from "./reference.ts";

/**
 * Lists what a style sheet, or the value of a `style` attribute, may load: imported sheets, images, and of each font the
 * first file, if it has Latin letters. A browser loads images and fonts only where they are used, which nothing here
 * knows. It takes time in proportion to the text, whatever that is.
 */
export function styleReferences(css: string): Reference[] {
  return new StyleReader(css).read();
}

const SPACE = /[\t\n\f\r ]/;
const WORD = /[-\w\u0080-\uffff]*/y;

class StyleReader {
  readonly #css: string;
  readonly #references: Reference[] = [];
  #at = 0;

  constructor(css: string) {
    this.#css = css;
  }

  read(): Reference[] {
    while (this.#at < this.#css.length) this.#step();
    return this.#references;
  }

  #step(): void {
    const character = this.#css[this.#at]!;
    if (character === "/" && this.#css[this.#at + 1] === "*") this.#past("*/");
    else if (character === '"' || character === "'") this.#string();
    else if (character === "\\") this.#at += 2;
    else if (character === "@") this.#rule();
    else {
      const word = this.#word();
      if (word === "") this.#at++;
      else if (word.toLowerCase() === "url" && this.#css[this.#at] === "(") this.#add(this.#url(), "image");
    }
  }

  #rule(): void {
    this.#at++;
    const name = this.#word().toLowerCase();
    if (name === "namespace") this.#past(";"); // it names a URL that nothing loads
    else if (name === "font-face") this.#font();
    else if (name === "import") {
      this.#space();
      const next = this.#css[this.#at];
      if (next === '"' || next === "'") this.#add(this.#string(), "style");
      else if (this.#word().toLowerCase() === "url" && this.#css[this.#at] === "(") this.#add(this.#url(), "style");
    }
  }

  /** Reads a block of a font: its first file is that for current browsers. */
  #font(): void {
    const before = this.#references.length;
    const start = this.#at;
    while (this.#at < this.#css.length && !"}@".includes(this.#css[this.#at]!)) this.#step();
    const [first] = this.#references.splice(before);
    if (first === undefined) return;
    const [, ranges] = /unicode-range\s{0,9}:([^;}]*)/i.exec(this.#css.slice(start, this.#at)) ?? [];
    if (ranges === undefined || hasLatin(ranges)) this.#references.push({ ...first, kind: "font" });
  }

  #add(url: string, kind: ReferenceKind): void {
    const trimmed = url.trim();
    if (trimmed !== "" && !trimmed.startsWith("#")) this.#references.push({ url: trimmed, kind, isLater: false });
  }

  /** Reads the rest of `url(…)`. */
  #url(): string {
    this.#at++;
    this.#space();
    const next = this.#css[this.#at];
    if (next === '"' || next === "'") return this.#string();
    return this.#text((character) => character === ")" || character === "(" || SPACE.test(character));
  }

  /** Reads a string; one without an end ends with its line. */
  #string(): string {
    const quote = this.#css[this.#at++];
    const text = this.#text((character) => character === quote || /[\n\r\f]/.test(character));
    if (this.#css[this.#at] === quote) this.#at++;
    return text;
  }

  /** Reads up to the first character that `isEnd` picks and no backslash escapes. */
  #text(isEnd: (character: string) => boolean): string {
    const start = this.#at;
    while (this.#at < this.#css.length && !isEnd(this.#css[this.#at]!)) {
      this.#at += this.#css[this.#at] === "\\" ? 2 : 1;
    }
    return unescapeCSS(this.#css.slice(start, this.#at));
  }

  #word(): string {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#css)!;
    this.#at += word.length;
    return word;
  }

  #space(): void {
    while (this.#at < this.#css.length) {
      if (SPACE.test(this.#css[this.#at]!)) this.#at++;
      else if (this.#css.startsWith("/*", this.#at)) this.#past("*/");
      else return;
    }
  }

  #past(end: string): void {
    const at = this.#css.indexOf(end, this.#at + (end === "*/" ? 2 : 0));
    this.#at = at === -1 ? this.#css.length : at + end.length;
  }
}

/** Whether ranges such as `U+0000-00FF, U+0131` hold the letter a. */
function hasLatin(ranges: string): boolean {
  return [...ranges.matchAll(/u\+([\da-f?]{1,6})(?:-([\da-f]{1,6}))?/gi)].some(([, from, to]) => {
    const first = parseInt(from!.replaceAll("?", "0"), 16);
    const last = parseInt(to ?? from!.replaceAll("?", "f"), 16);
    return first <= 0x61 && last >= 0x61;
  });
}

function unescapeCSS(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:([\da-f]{1,6})\s?|(\r\n|[\n\r\f])|([^]))/gi, (_, hex, newline, character) => {
    if (hex === undefined) return newline === undefined ? character : "";
    const code = parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
