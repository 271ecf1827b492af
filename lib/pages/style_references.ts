import {
  forCommonScreen,
  KNOWN_IMAGE,
  type Reference,
  type ReferenceKind,
  type Size,
  TextCursor,
} from "./reference.ts";

/** Lists the files that a style sheet may load: imports, images, the first file of each font with Latin letters. */
export function styleReferences(css: string): Reference[] {
  return new StyleReader(css).read();
}

const SPACE = /[\t\n\f\r ]/;
const WORD = /[-\w\u0080-\uffff]*/y;
/** The dots for each point, by unit. */
const units: Readonly<Record<string, number>> = { x: 1, dppx: 1, dpi: 1 / 96, dpcm: 2.54 / 96 };

interface Option extends Size {
  readonly references: readonly Reference[];
  readonly isKnown: boolean;
}

class StyleReader extends TextCursor {
  readonly #references: Reference[] = [];

  read(): Reference[] {
    while (this.at < this.text.length) this.#step();
    return this.#references;
  }

  #step(): void {
    const character = this.text[this.at]!;
    if (character === "/" && this.text[this.at + 1] === "*") this.#past("*/");
    else if (character === '"' || character === "'") this.#string();
    else if (character === "\\") this.at += 2;
    else if (character === "@") this.#rule();
    else {
      const word = this.#word();
      if (word === "") this.at++;
      else if (this.text[this.at] === "(") this.#function(word.toLowerCase());
    }
  }

  #function(name: string): void {
    if (name === "url") this.#add(this.#url(), "image");
    else if (name === "image-set" || name === "-webkit-image-set") this.#imageSet();
  }

  /** Reads the rest of `image-set(…)`, of which a browser loads one option. */
  #imageSet(): void {
    const options: Option[] = [];
    const start = this.#references.length;
    do {
      this.at++;
      options.push(this.#option());
    } while (this.text[this.at] === ",");
    this.at++;
    this.#references.length = start;
    const { references = [] } = forCommonScreen(options.filter(({ isKnown }) => isKnown)) ?? {};
    for (const each of references) this.#references.push(each);
  }

  /** Reads up to the comma after the option, or the end of all options. */
  #option(): Option {
    const start = this.#references.length;
    let [amount, isKnown, depth] = [1, true, 0];
    for (this.#space(); this.at < this.text.length; this.#space()) {
      const character = this.text[this.at]!;
      if (depth === 0 && (character === "," || character === ")")) break;
      if (character === '"' || character === "'") this.#add(this.#string(), "image");
      else if (/[.\d]/.test(character)) amount = this.#resolution();
      else {
        const name = this.#word().toLowerCase();
        const next = this.text[this.at];
        const isURL = next === "(" && name === "url";
        if (isURL) this.#add(this.#url(), "image");
        else if (next === "(" && name === "type") isKnown = KNOWN_IMAGE.test(this.#url());
        else if (next === "(") depth++;
        else if (name !== "") continue;
        else if (next === ")") depth--;
        if (isURL || name === "type") this.#space();
        this.at++;
      }
    }
    return { references: this.#references.slice(start), amount, isWidth: false, isKnown };
  }

  /** Reads a number with its unit, as dots for each point. */
  #resolution(): number {
    const number = this.#text((character) => !/[.\d]/.test(character));
    return parseFloat(number) * (units[this.#word().toLowerCase()] ?? 1) || 1;
  }

  #rule(): void {
    this.at++;
    const name = this.#word().toLowerCase();
    if (name === "namespace") this.#past(";"); // its URL is not loaded
    else if (name === "font-face") this.#font();
    else if (name === "import") {
      this.#space();
      const next = this.text[this.at];
      if (next === '"' || next === "'") this.#add(this.#string(), "style");
      else if (this.#word().toLowerCase() === "url" && this.text[this.at] === "(") this.#add(this.#url(), "style");
    }
  }

  /** Reads a `@font-face` block, whose first file is for current browsers. */
  #font(): void {
    const before = this.#references.length;
    const start = this.at;
    while (this.at < this.text.length && !"}@".includes(this.text[this.at]!)) this.#step();
    const [first] = this.#references.splice(before);
    if (first === undefined) return;
    const [, ranges] = /unicode-range\s{0,9}:([^;}]*)/i.exec(this.text.slice(start, this.at)) ?? [];
    if (ranges === undefined || hasLatin(ranges)) this.#references.push({ ...first, kind: "font" });
  }

  #add(url: string, kind: ReferenceKind): void {
    const trimmed = url.trim();
    if (trimmed !== "" && !trimmed.startsWith("#")) this.#references.push({ url: trimmed, kind, isLater: false });
  }

  #url(): string {
    this.at++;
    this.#space();
    const next = this.text[this.at];
    if (next === '"' || next === "'") return this.#string();
    return this.#text((character) => character === ")" || character === "(" || SPACE.test(character));
  }

  /** Reads a string; an unterminated one ends with its line. */
  #string(): string {
    const quote = this.text[this.at++];
    const text = this.#text((character) => character === quote || /[\n\r\f]/.test(character));
    if (this.text[this.at] === quote) this.at++;
    return text;
  }

  /** Reads up to the first unescaped character that `isEnd` accepts. */
  #text(isEnd: (character: string) => boolean): string {
    const start = this.at;
    while (this.at < this.text.length && !isEnd(this.text[this.at]!)) {
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    return unescapeCSS(this.text.slice(start, this.at));
  }

  #word(): string {
    return this.take(WORD)![0];
  }

  #space(): void {
    while (this.at < this.text.length) {
      if (SPACE.test(this.text[this.at]!)) this.at++;
      else if (this.text.startsWith("/*", this.at)) this.#past("*/");
      else return;
    }
  }

  #past(end: string): void {
    const at = this.text.indexOf(end, this.at + (end === "*/" ? 2 : 0));
    this.at = at === -1 ? this.text.length : at + end.length;
  }
}

/** Whether ranges such as `U+0000-00FF, U+0131` contain the letter a. */
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
