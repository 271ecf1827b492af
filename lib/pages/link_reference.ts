import { candidateOf } from "./image_candidates.ts";
import type { Reference, ReferenceKind } from "./reference.ts";

/** Kinds of what is preloaded, by `as`. */
const preloaded: ReadonlyMap<string, ReferenceKind> = new Map([
  ["script", "script"],
  ["style", "style"],
  ["image", "image"],
  ["font", "font"],
]);

/**
 * The reference that the attributes of a `<link>` make, or the parameters of a `Link` field; undefined if browsers load
 * nothing for it.
 */
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
