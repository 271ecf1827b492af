/** Named references that occur in URLs; others are not replaced. */
const named: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["sol", "/"],
  ["colon", ":"],
  ["period", "."],
  ["quest", "?"],
  ["equals", "="],
  ["num", "#"],
  ["percnt", "%"],
  ["comma", ","],
  ["nbsp", "\u00a0"],
]);

/** Replaces the character references in the `text` of an attribute. */
export function unescapeText(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,32}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? whole;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

export interface Tag {
  /** The name in lower case. */
  readonly name: string;
  readonly isEnd: boolean;
  /** The attributes by name in lower case; the first one of duplicates. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The content of an element with text instead of elements, such as a script or a style. */
  readonly text: string;
}

/** Elements whose content is text up to their end tag. With scripts, `noscript` is one. */
const TEXT_ONLY: ReadonlySet<string> = new Set(
  ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"],
);

const none: ReadonlyMap<string, string> = new Map();

/** Yields the tags of an HTML page in order, without those in comments and `<template>`, in linear time for any text. */
export function* tags(html: string): Generator<Tag> {
  let templates = 0;
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      at = afterComment(html, at);
      continue;
    }
    const reader = new TagReader(html, at);
    if (!reader.isTag) {
      at = reader.isBogus ? after(html, ">", at) : at + 1;
      continue;
    }
    const tag = reader.read();
    if (tag === undefined) return; // the page ends within the tag
    at = reader.at;
    if (tag.name === "template") templates = Math.max(0, templates + (tag.isEnd ? -1 : 1));
    if (templates === 0) yield tag;
  }
}

function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at === -1 ? text.length : at + end.length;
}

const COMMENT_END = /--!?>/g;

function afterComment(html: string, at: number): number {
  if (html.startsWith(">", at + 4)) return at + 5;
  if (html.startsWith("->", at + 4)) return at + 6;
  COMMENT_END.lastIndex = at + 4;
  return COMMENT_END.test(html) ? COMMENT_END.lastIndex : html.length;
}

const SPACE = /[\t\n\f\r ]/;

/** A reader of one tag, like the tokenizer of the HTML Standard. */
class TagReader {
  /** The index after the text that was read. */
  at: number;
  readonly #html: string;
  readonly #isEnd: boolean;

  constructor(html: string, start: number) {
    this.#html = html;
    this.#isEnd = html[start + 1] === "/";
    this.at = start + (this.#isEnd ? 2 : 1);
  }

  get isTag(): boolean {
    return /[a-z]/i.test(this.#html[this.at] ?? "");
  }

  /** Whether the tag is a declaration or the like, which ends with the next `>`. */
  get isBogus(): boolean {
    return this.#isEnd || /[!?]/.test(this.#html[this.at] ?? "");
  }

  /** Reads the tag with its text; undefined if the page ends within it. */
  read(): Tag | undefined {
    const name = this.#take((character) => SPACE.test(character) || character === "/" || character === ">")
      .toLowerCase();
    const attributes = this.#attributes();
    if (attributes === undefined) return undefined;
    const text = !this.#isEnd && TEXT_ONLY.has(name) ? this.#text(name) : "";
    return { name, isEnd: this.#isEnd, attributes, text };
  }

  #attributes(): ReadonlyMap<string, string> | undefined {
    let attributes: Map<string, string> | undefined;
    while (this.at < this.#html.length) {
      this.#take((character) => !SPACE.test(character) && character !== "/");
      if (this.#html[this.at] === ">") {
        this.at++;
        return attributes ?? none;
      }
      const start = this.at++; // a name may begin with an equals sign
      this.#take((character) => SPACE.test(character) || "/>=".includes(character));
      const name = this.#html.slice(start, this.at).toLowerCase();
      const value = this.#value();
      attributes ??= new Map();
      if (!attributes.has(name)) attributes.set(name, value);
    }
    return undefined;
  }

  #value(): string {
    const end = this.at;
    this.#take((character) => !SPACE.test(character));
    if (this.#html[this.at] !== "=") {
      this.at = end;
      return "";
    }
    this.at++;
    this.#take((character) => !SPACE.test(character));
    const quote = this.#html[this.at];
    if (quote !== '"' && quote !== "'") {
      return unescapeText(this.#take((character) => SPACE.test(character) || character === ">"));
    }
    const close = this.#html.indexOf(quote, this.at + 1);
    const value = this.#html.slice(this.at + 1, close === -1 ? undefined : close);
    this.at = close === -1 ? this.#html.length : close + 1;
    return unescapeText(value);
  }

  /** Reads the text up to the end tag of the element. */
  #text(name: string): string {
    const end = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
    end.lastIndex = this.at;
    const start = this.at;
    this.at = end.exec(this.#html)?.index ?? this.#html.length;
    return this.#html.slice(start, this.at);
  }

  /** Reads up to the first character that `isEnd` accepts. */
  #take(isEnd: (character: string) => boolean): string {
    const start = this.at;
    while (this.at < this.#html.length && !isEnd(this.#html[this.at]!)) this.at++;
    return this.#html.slice(start, this.at);
  }
}
