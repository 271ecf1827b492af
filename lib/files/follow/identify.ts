import { Buffer } from "node:buffer";
import process from "node:process";
import { statfs } from "node:fs/promises";
import { isPermitted } from "../../runtime/mod.ts";
import { codeOf } from "../failure.ts";
import type { FollowedFile } from "./follow_source.ts";
import { type FilePath, openAny, unlessMissing } from "./growing_file.ts";
import { type FollowedIdentity, type FollowPosition, isProven } from "./line_place.ts";

/** A file that a position may belong to. */
export interface Candidate extends FilePath {
  readonly identity: FollowedIdentity;
  /** The file's number in a series, in which a file before the position's number is only compared by its time. */
  readonly number?: number | undefined;
}

/** The result of {@linkcode identify}. */
export interface Identified {
  /** The index of the position's file; -1 if no file is proven. */
  readonly index: number;
  /** The file, opened at the position; undefined if no whole line of it was read, or it was rewritten since. */
  readonly file: FollowedFile | undefined;
}

const LINE_FEED = 10;
/** The type of overlayfs in statfs(2). */
const OVERLAYFS = 0x794c_7630;
/** The number of bytes of a line that are compared at most. */
const MAX_LINE = 65_536;

/**
 * Determines the file of a position by properties that outlast renaming, compression and a restart of the system:
 *
 * - The file's number together with its time of birth: numbers are reused, and some disks assign new ones
 *   whenever they are mounted.
 * - Its bytes, in a compressed file, in a copy whose original was truncated or left behind, or under another number. A
 *   file that was last written before the position's time is no copy. Several files with these bytes prove nothing,
 *   since logs may have equal lines; nor does one file, if a candidate before it was written since, or if its time of
 *   birth differs and it is on the same disk, or the line before the position is repeated in it. On another
 *   disk, `warn` reports a file that was written since its birth: it may be a new one, as copies mostly keep their time.
 * - Before any whole line, its number in a series.
 */
export async function identify(
  candidates: readonly Candidate[],
  position: FollowPosition,
  beginsAnew: boolean,
  warn: (error: Error) => void,
): Promise<Identified> {
  const { file: id, born, head, number } = position;
  const possible = candidates.filter((each) => each.number === number);
  const own = possible.filter(({ identity }) => born > 0 && identity.file === id && identity.born === born);
  const index = own.length === 1 ? candidates.indexOf(own[0]) : -1; // files without numbers may share a time of birth
  const isAfterUnread = (place: number): boolean =>
    candidates.slice(0, place).some(({ identity }) => identity.time > position.time);
  const copies = possible.filter((each) => each === candidates[index] || mayBeLater(each, position.time));
  if (head === 0) {
    const same = number === undefined ? undefined : copies.find((each) => !hasOtherBirth(each, position));
    const place = index === -1 && same !== undefined ? candidates.indexOf(same) : index;
    return { index: place !== index && isAfterUnread(place) ? -1 : place, file: undefined };
  }
  const proven = new Map<Candidate, FollowedFile>();
  try {
    for (const each of index === -1 ? copies : [candidates[index], ...copies]) {
      if (proven.has(each)) continue;
      const file = await openProven(each, position, beginsAnew, index === -1);
      if (file !== undefined) proven.set(each, file);
      if (each === candidates[index] && file !== undefined) break;
    }
  } catch (error) {
    await Promise.all([...proven.values()].map((file) => file.close()));
    throw error;
  }
  const same = [...proven.keys()].filter(({ identity }) => born > 0 && identity.born === born);
  const [found, ...others] = same.length === 1 ? same : proven.keys();
  const place = candidates.indexOf(found!);
  const isSure = found !== undefined && others.length === 0 && (place === index || !isAfterUnread(place));
  for (const [each, file] of proven) if (!isSure || each !== found) await file.close();
  if (!isSure) return { index, file: undefined };
  if (hasOtherBirth(found, position) && found.identity.time >= found.identity.born) {
    const lost = "if it is a new file, its first lines, which are equal, are not read";
    warn(new Error(`${found.path} is on another disk or layer than before, and is read from the position on: ${lost}`));
  }
  return { index: place, file: proven.get(found) };
}

/**
 * Whether a file may have been written at a time or later. File systems' clocks may be late, that of FAT by two
 * seconds, and compressors may keep only whole seconds.
 */
export function mayBeLater({ identity: { time } }: Candidate, since: number): boolean {
  return time >= since - (time % 1000 === 0 ? 2000 : 20);
}

/**
 * Whether the time of birth is another one; a compressed form has its own. Windows gives a file the birth of a former one
 * of its name, so there another number counts, too.
 */
function hasOtherBirth({ format, identity }: Candidate, { born, file }: FollowPosition): boolean {
  const isOther = identity.born !== born || process.platform === "win32" && numberIn(identity.file) !== numberIn(file);
  return format === undefined && born > 0 && identity.born > 0 && isOther;
}

function numberIn(file: string): string {
  return file.slice(file.indexOf(" "));
}

/**
 * Whether a file is on the position's disk. Overlayfs copies a file of an image's layer, unpacked after its last write, at
 * its first one, and keeps its number; a file that was written since its birth may have left its number to a new one.
 */
async function isOnSameDisk({ identity, path }: Candidate, { file, born, time }: FollowPosition): Promise<boolean> {
  if (identity.file === file && time < born && isPermitted("diskType")) {
    return (await unlessMissing(statfs(path)))?.type !== OVERLAYFS;
  }
  return identity.file.startsWith(file.slice(0, file.indexOf(" ") + 1));
}

/**
 * Opens a file at a position if its bytes prove that it is the position's; an unreadable or damaged file proves nothing.
 *
 * @param isAlone Whether no file has the position's number and time of birth.
 */
async function openProven(
  candidate: Candidate,
  position: FollowPosition,
  beginsAnew: boolean,
  isAlone: boolean,
): Promise<FollowedFile | undefined> {
  let file: FollowedFile | undefined;
  try {
    file = await openAny(candidate, position.offset, beginsAnew);
    const isSame = file !== undefined && isProven(file.place.mark, position) &&
      !(isAlone && hasOtherBirth(candidate, position) &&
        (await isOnSameDisk(candidate, position) || await isRepeated(candidate, position.offset, beginsAnew)));
    if (isSame) return file;
  } catch (error) {
    await file?.close();
    if (![undefined, "EACCES", "EPERM"].includes(codeOf(error))) throw error; // codecs' errors have no code
    return undefined;
  }
  await file?.close();
  return undefined;
}

/** Whether a file has the line before an offset more than once: its bytes may then be those of another file. */
async function isRepeated(candidate: Candidate, offset: number, beginsAnew: boolean): Promise<boolean> {
  let last: Uint8Array = Uint8Array.of();
  for await (const next of bytesOf(candidate, Math.max(0, offset - MAX_LINE), offset, beginsAnew)) {
    last = Buffer.concat([last, next]);
  }
  const line = last.subarray(last.length < 2 ? 0 : Math.max(0, last.lastIndexOf(LINE_FEED, last.length - 2)));
  let [bytes, end]: [Uint8Array, number] = [Uint8Array.of(LINE_FEED), 0];
  for await (const next of bytesOf(candidate, 0, offset, beginsAnew)) {
    end += next.length;
    const joined = Buffer.concat([bytes, next]);
    const found = joined.indexOf(line);
    if (found !== -1 && (end < offset || found + line.length < joined.length)) return true;
    bytes = joined.subarray(Math.max(0, joined.length - line.length + 1));
  }
  return false;
}

async function* bytesOf(
  candidate: Candidate,
  start: number,
  end: number,
  beginsAnew: boolean,
): AsyncGenerator<Uint8Array> {
  const file = await openAny(candidate, start, beginsAnew);
  try {
    while (file !== undefined && file.place.end < end) {
      const bytes = await file.read(end - file.place.end);
      if (bytes === undefined) return;
      yield bytes;
    }
  } finally {
    await file?.close();
  }
}
