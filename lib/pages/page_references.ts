import { type Tag, tags } from "./tags.ts";
import type { Reference, ReferenceKind } from "./reference.ts";
import { styleReferences } from "./style_references.ts";

/** The references of a page, and what they are relative to. */
export interface PageReferences {
  /** The URL that `<base>` names, as it is written; relative to the page's own. Undefined if there is none. */
  readonly base: string | undefined;
  readonly references: readonly Reference[];
}

/** Kinds of what is preloaded, by `as`. */
const preloaded: ReadonlyMap<string, ReferenceKind> = new Map([
  ["script", "script"],
  ["style", "style"],
  ["image", "image"],
  ["font", "font"],
]);

/** Types of scripts that run; others hold data. */
const SCRIPT = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma|live)script(?:1\.[0-5])?)$/i;

/** Formats of images that all current browsers take. */
const IMAGE = /^image\/(?:avif|webp|jpeg|png|gif|svg\+xml|bmp|x-icon)\s*(?:;|$)/i;

/**
 * Lists what a browser with scripts loads for an HTML page, as far as the page itself says it: what scripts load is
 * unknown. Nothing is evaluated: of a `srcset` it is the candidate for a common screen, of a `<picture>` the first source
 * of a known type.
 */
export function pageReferences(html: string): PageReferences {
  const found = new Found();
  for (const tag of tags(html)) found.take(tag);
  return found;
}

class Found implements PageReferences {
  base: string | undefined;
  readonly references: Reference[] = [];
  /** Whether a picture's source is taken, in place of its image. */
  #picture: "none" | "open" | "taken" = "none";

  take(tag: Tag): void {
    const { attributes } = tag;
    const style = attributes.get("style");
    if (style !== undefined) this.#addAll(styleReferences(style));
    switch (tag.name) {
      case "base":
        this.base ??= attributes.get("href");
        return;
      case "script":
        return this.#takeScript(attributes);
      case "link":
        return this.#takeLink(attributes);
      case "style":
        return this.#addAll(styleReferences(tag.text));
      case "picture":
        this.#picture = tag.isEnd ? "none" : "open";
        return;
      case "source":
        return this.#takeSource(attributes);
      case "img":
        return this.#takeImage(attributes);
      case "input":
        if (attributes.get("type")?.toLowerCase() === "image") this.#add(attributes.get("src"), "image");
        return;
      case "image":
      case "use":
        return this.#add((attributes.get("href") ?? attributes.get("xlink:href"))?.replace(/#.*$/s, ""), "image");
      case "video":
        this.#add(attributes.get("poster"), "image");
        this.#add(attributes.get("src"), "other", !attributes.has("autoplay"));
        return;
      case "audio":
        return this.#add(attributes.get("src"), "other", !attributes.has("autoplay"));
    }
  }

  #takeScript(attributes: Tag["attributes"]): void {
    if (attributes.has("nomodule") || !SCRIPT.test(attributes.get("type")?.trim() ?? "")) return;
    this.#add(attributes.get("src"), "script");
  }

  #takeLink(attributes: Tag["attributes"]): void {
    const words = new Set((attributes.get("rel") ?? "").toLowerCase().split(/\s+/));
    const href = attributes.get("href");
    const has = (word: string): boolean => words.has(word);
    if (has("stylesheet")) {
      if (!has("alternate") && !attributes.has("disabled")) this.#add(href, "style");
    } else if (has("modulepreload")) this.#add(href, "script");
    else if (has("preload")) this.#add(href, preloaded.get((attributes.get("as") ?? "").toLowerCase()) ?? "other");
    else if (has("icon")) this.#add(href, "image");
    else if (has("manifest")) this.#add(href, "other");
    else if (has("prefetch")) this.#add(href, "other", true);
  }

  #takeSource(attributes: Tag["attributes"]): void {
    const src = attributes.get("src");
    if (src !== undefined) return this.#add(src, "other", true); // of a video or an audio
    if (this.#picture !== "open" || attributes.has("media")) return;
    const type = attributes.get("type");
    const url = candidateOf(attributes.get("srcset"));
    if (url === undefined || (type !== undefined && !IMAGE.test(type.trim()))) return;
    this.#add(url, "image");
    this.#picture = "taken";
  }

  #takeImage(attributes: Tag["attributes"]): void {
    if (this.#picture === "taken") return;
    const isLater = attributes.get("loading")?.toLowerCase() === "lazy";
    this.#add(candidateOf(attributes.get("srcset")) ?? attributes.get("src"), "image", isLater);
  }

  #addAll(references: Iterable<Reference>): void {
    for (const reference of references) this.references.push(reference);
  }

  #add(url: string | undefined, kind: ReferenceKind, isLater = false): void {
    const trimmed = url?.trim();
    if (trimmed) this.references.push({ url: trimmed, kind, isLater });
  }
}

/** Of images in several widths, the one that is at least as wide as this is loaded: a page on a laptop. */
const WIDTH = 1200;

/** The candidate of a `srcset` for a screen of one pixel a point; undefined if there is none. */
function candidateOf(srcset: string | undefined): string | undefined {
  if (srcset === undefined) return undefined;
  const byAmount = [...candidates(srcset)].sort((a, b) => a.amount - b.amount);
  return (byAmount.find(({ amount, isWidth }) => amount >= (isWidth ? WIDTH : 1)) ?? byAmount.at(-1))?.url;
}

interface Candidate {
  readonly url: string;
  /** Of pixels, in all or for each point. */
  readonly amount: number;
  readonly isWidth: boolean;
}

/** The candidates of a `srcset`: URLs, which may hold commas but not end with them, and what follows up to a comma. */
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
