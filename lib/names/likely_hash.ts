import { fileNameOf } from "./file_name.ts";
import { hashIn, placeOf } from "./layouts.ts";
import { type HashedPart, tailsOf } from "./tail.ts";

/**
 * The part of `path` that has the shape of a hash, as names of build tools have it, be it one or a word: for where a
 * wrong guess does no harm. Names that are nothing but a hash have none, as nothing would be left of them.
 */
export function likelyHash(path: string): HashedPart | undefined {
  const name = fileNameOf(path);
  if (!name) return undefined;
  const place = placeOf(path);
  const part = place ? hashIn(path, place, name) : tailsOf(path, name.start, name.end)[0];
  if (!part || part.start <= name.start) return undefined;
  const text = path.slice(part.start, part.end);
  const isVaried = /\d/.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)) || /^[A-Z2-7]{8}$/.test(text);
  return isVaried ? { start: part.start, end: part.end } : undefined;
}
