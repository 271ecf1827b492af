export type ReferenceKind = "script" | "style" | "image" | "font" | "other";

/** A file that a page or a style sheet refers to. */
export interface Reference {
  /** The URL as written, not resolved. */
  readonly url: string;
  readonly kind: ReferenceKind;
  /** Whether a browser may load it later or never, such as images out of view and next pages. */
  readonly isLater: boolean;
}

export class TextCursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Takes the text that the sticky `pattern` matches here. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at += match[0].length;
    return match ?? undefined;
  }

  skip(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

/** Formats of images that all current browsers support. */
export const KNOWN_IMAGE: RegExp = /^image\/(?:avif|webp|jpeg|png|gif|svg\+xml|bmp|x-icon)\s*(?:;|$)/i;

/** The width for which an image is chosen, the first that is wide enough: a page on a laptop. */
const WIDTH = 1200;

/** Returns the candidate of a `srcset` for a screen with one pixel for each point, or undefined. */
export function candidateOf(srcset: string | undefined): string | undefined {
  if (srcset === undefined) return undefined;
  return forCommonScreen([...candidates(srcset)])?.url;
}

/** Returns the candidate for a screen with one pixel for each point, or undefined. */
export function forCommonScreen<Image extends Size>(images: readonly Image[]): Image | undefined {
  const byAmount = images.toSorted((a, b) => a.amount - b.amount);
  return byAmount.find(({ amount, isWidth }) => amount >= (isWidth ? WIDTH : 1)) ?? byAmount.at(-1);
}

/** The size of an image among several. */
export interface Size {
  /** The number of pixels, in total or for each point. */
  readonly amount: number;
  readonly isWidth: boolean;
}

interface Candidate extends Size {
  readonly url: string;
}

/** Yields the candidates of a `srcset`: URLs, which may contain commas but not end with them, and descriptors. */
function* candidates(srcset: string): Generator<Candidate> {
  let url: string | undefined;
  let amount = 1;
  let isWidth = false;
  for (const word of srcset.split(/[\t\n\f\r ]+/)) {
    const isLast = word.endsWith(",");
    const text = isLast ? withoutCommas(word) : word;
    if (url === undefined) url = text === "" ? undefined : text;
    else if (/^[\d.]+[wx]$/.test(text)) [amount, isWidth] = [parseFloat(text), text.endsWith("w")];
    if (!isLast || url === undefined) continue;
    yield { url, amount, isWidth };
    [url, amount, isWidth] = [undefined, 1, false];
  }
  if (url !== undefined) yield { url, amount, isWidth };
}

function withoutCommas(word: string): string {
  let end = word.length;
  while (word[end - 1] === ",") end--;
  return word.slice(0, end);
}

/** The kinds of preloaded files, by `as`. */
const preloaded: ReadonlyMap<string, ReferenceKind> = new Map([
  ["script", "script"],
  ["style", "style"],
  ["image", "image"],
  ["font", "font"],
]);

/** Returns the reference of a `<link>`'s attributes or a `Link` field's parameters; undefined if none is loaded. */
export function linkReference(attributes: ReadonlyMap<string, string>): Reference | undefined {
  const words = new Set((attributes.get("rel") ?? "").toLowerCase().split(/\s+/));
  const kind = kindOf(words, attributes);
  const images = words.has("preload") && kind === "image" ? candidateOf(attributes.get("imagesrcset")) : undefined;
  const url = (images ?? attributes.get("href"))?.trim();
  if (!url || kind === undefined) return undefined;
  return { url, kind, isLater: kind === "other" && words.has("prefetch") };
}

function kindOf(words: ReadonlySet<string>, attributes: ReadonlyMap<string, string>): ReferenceKind | undefined {
  if (words.has("stylesheet")) return words.has("alternate") || attributes.has("disabled") ? undefined : "style";
  if (words.has("modulepreload")) return "script";
  if (words.has("preload")) return preloaded.get((attributes.get("as") ?? "").toLowerCase()) ?? "other";
  if (words.has("icon")) return "image";
  return words.has("manifest") || words.has("prefetch") ? "other" : undefined;
}

const LINK = /<([^<>]*)>/y;
const PARAMETER = /[\t ]*;[\t ]*([^\s;,="<>]*)[\t ]*(?:=[\t ]*(?:"((?:[^"\\]|\\[^])*)"?|([^\s;,"<>]*)))?/y;

/** Lists what `Link` fields (RFC 8288) load before a page is read: `rel=preload` and `modulepreload`. */
export function headerReferences(field: string): Reference[] {
  const references: Reference[] = [];
  const cursor = new TextCursor(field);
  for (cursor.at = field.indexOf("<"); cursor.at !== -1; cursor.at = field.indexOf("<", cursor.at)) {
    const link = cursor.take(LINK);
    if (link === undefined) {
      cursor.at++;
      continue;
    }
    const parameters = new Map([["href", link[1]!]]);
    for (let found = cursor.take(PARAMETER); found !== undefined; found = cursor.take(PARAMETER)) {
      const [, name = "", quoted, token] = found;
      const key = name.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\([^])/g, "$1") ?? token ?? "");
    }
    const reference = /(?:^|\s)(?:modulepreload|preload)(?:\s|$)/i.test(parameters.get("rel") ?? "")
      ? linkReference(parameters)
      : undefined;
    if (reference) references.push(reference);
  }
  return references;
}
