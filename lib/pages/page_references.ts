import { candidateOf, KNOWN_IMAGE, linkReference, type Reference, type ReferenceKind } from "./reference.ts";
import { scriptReferences } from "./script_references.ts";
import { styleReferences } from "./style_references.ts";
import { type Tag, tags } from "./tags.ts";

export interface PageReferences {
  /** The URL of `<base>` as written, relative to the page's own; undefined if there is none. */
  readonly base: string | undefined;
  readonly references: readonly Reference[];
}

/** The types of scripts that run; others contain data. */
const SCRIPT = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma|live)script(?:1\.[0-5])?)$/i;

/**
 * Lists the files that a browser loads for a page, including static imports of its scripts. Nothing is evaluated: a
 * `srcset` yields the candidate for a common screen, and a `<picture>` the first source of a known type.
 */
export function pageReferences(html: string): PageReferences {
  const found = new Found();
  for (const tag of tags(html)) found.take(tag);
  return found;
}

class Found implements PageReferences {
  base: string | undefined;
  readonly references: Reference[] = [];
  /** Whether a `<source>` of the current `<picture>` was chosen instead of its image. */
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
        return this.#takeScript(tag);
      case "link": {
        const reference = linkReference(attributes);
        if (reference) this.references.push(reference);
        return;
      }
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

  #takeScript({ attributes, text }: Tag): void {
    if (attributes.has("nomodule") || !SCRIPT.test(attributes.get("type")?.trim() ?? "")) return;
    if (attributes.has("src")) this.#add(attributes.get("src"), "script");
    else this.#addAll(scriptReferences(text));
  }

  #takeSource(attributes: Tag["attributes"]): void {
    const src = attributes.get("src");
    if (src !== undefined) return this.#add(src, "other", true); // of a video or an audio
    if (this.#picture !== "open" || attributes.has("media")) return;
    const type = attributes.get("type");
    const url = candidateOf(attributes.get("srcset"));
    if (url === undefined || (type !== undefined && !KNOWN_IMAGE.test(type.trim()))) return;
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
