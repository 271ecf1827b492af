import type { FollowedFile } from "./follow_source.ts";
import { type FilePath, openAny } from "./growing_file.ts";
import { type FollowedIdentity, type FollowPosition, isProven } from "./line_place.ts";

/** A file that a position may belong to. */
export interface Candidate extends FilePath {
  readonly identity: FollowedIdentity;
}

/** The result of {@linkcode identify}. */
export interface Identified {
  /** The index of the position's file; -1 if no file is proven. */
  readonly index: number;
  /** The file, opened at the position; undefined if no whole line of it was read, or it was rewritten since. */
  readonly file: FollowedFile | undefined;
}

/**
 * Determines the file of a position by properties that outlast renaming, compression and a restart of the system:
 *
 * - The file's number together with its time of birth: numbers are reused, and some disks assign new ones
 *   whenever they are mounted.
 * - Its bytes, in a compressed file, in a copy whose original was truncated, or under another number, unless a
 *   different time of birth shows another file. Several files with these bytes prove nothing, since logs may have equal
 *   lines; nor does one file, if a candidate before it was written since.
 */
export async function identify(
  candidates: readonly Candidate[],
  position: FollowPosition,
  beginsAnew: boolean,
): Promise<Identified> {
  const { file: id, born, head } = position;
  const own = candidates.filter(({ identity }) => born > 0 && identity.file === id && identity.born === born);
  const index = own.length === 1 ? candidates.indexOf(own[0]) : -1; // files without numbers may share a time of birth
  if (head === 0) return { index, file: undefined };
  const proven = new Map<Candidate, FollowedFile>();
  for (const each of index === -1 ? candidates : [candidates[index], ...candidates]) {
    if (proven.has(each) || index === -1 && isOther(each, position)) continue;
    const file = await openProven(each, position, beginsAnew);
    if (file !== undefined) proven.set(each, file);
    if (each === candidates[index] && file !== undefined) break;
  }
  const same = [...proven.keys()].filter(({ identity }) => born > 0 && identity.born === born);
  const [found, ...others] = same.length === 1 ? same : proven.keys();
  const place = found === undefined || others.length > 0 ? -1 : candidates.indexOf(found);
  const isUnread = ({ identity }: Candidate): boolean => identity.time > position.time;
  const isSure = place !== -1 && (place === index || !candidates.slice(0, place).some(isUnread));
  for (const [each, file] of proven) if (!isSure || each !== found) await file.close();
  return isSure ? { index: place, file: proven.get(found!) } : { index, file: undefined };
}

/** Whether the time of birth shows another file; a compressed form has its own. */
function isOther({ format, identity }: Candidate, { born }: FollowPosition): boolean {
  return format === undefined && born > 0 && identity.born > 0 && identity.born !== born;
}

/** Opens a file at a position if its bytes prove that it is the position's. */
async function openProven(
  candidate: Candidate,
  position: FollowPosition,
  beginsAnew: boolean,
): Promise<FollowedFile | undefined> {
  const file = await openAny(candidate, position.offset, beginsAnew);
  if (file === undefined || isProven(file.place.mark, position)) return file;
  await file.close();
  return undefined;
}
