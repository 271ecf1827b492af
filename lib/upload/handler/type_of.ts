import { extname } from "node:path";
import mime from "mime-types";
import { essenceOf, type MediaRanges } from "../../semantics/mod.ts";

/** What senders give as the type who know none; curl gives the second of whatever it sends with `--data-binary`. */
const UNKNOWN: readonly string[] = ["application/octet-stream", "application/x-www-form-urlencoded"];

/**
 * The media type that a file counts as: the one that its sender gives. Where only some are accepted, and the sender
 * gives none or one that says nothing, it is that of the name's extension.
 *
 * @param accept The types that are accepted; undefined: all.
 * @param given What the sender says; undefined if nothing.
 * @param name What the sender calls the file.
 * @param otherwise The type of a file of which nothing is known.
 */
export function typeOf(
  accept: MediaRanges | undefined,
  given: string | undefined,
  name: string,
  otherwise: string,
): string {
  const type = given ?? otherwise;
  const isKnown = given !== undefined && !UNKNOWN.includes(essenceOf(given));
  if (accept === undefined || isKnown || accept.accepts(type)) return type;
  return mime.lookup(extname(name)) || type;
}
