import { lstatSync } from "node:fs";
import { fileNumber } from "../../files/internal.ts";
import { fileStatus } from "../../runtime/mod.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import {
  CHUNK_SIZE,
  type FileContent,
  isAbove,
  isShortage,
  type LargeContents,
  readContent,
  reasonOf,
} from "./file_content.ts";
import type { FileColumns } from "./found_files.ts";
import { folderOf, isAsAt } from "./manifest_records.ts";
import { SMALL_BODY } from "./memory.ts";
import type { VariantKind, Warn } from "./representation.ts";

/** The state that the steps of one scan share. */
export interface Scan {
  /** The files' contents: initially those of the manifest, finally those of the scan. */
  readonly found: FileColumns;
  /** The time of the last look of the manifest's run; undefined if there is no manifest. */
  readonly lookedAt: number | undefined;
  /** The folders that may have been moved to their places since. */
  readonly moved: ReadonlySet<string>;
  /** The paths of files whose records are not trusted. */
  readonly doubted: ReadonlySet<string>;
  /** The size in bytes above which files are identified by their status. */
  readonly hashLimit: number;
  readonly large: LargeContents;
  readonly warn: Warn;
  readonly turns: TurnSlicer;
}

const HASH_LENGTH = 32;
/** The maximum zstd window of this content coding in bytes (RFC 9659). */
const MAX_WINDOW = 8 * 1024 * 1024;

/** Returns the SHA-256 in base64 of the dictionary that a delta requires. */
export function dictionaryIn({ head }: FileContent, { magic }: VariantKind): string {
  return Buffer.from(head.subarray(magic.length, magic.length + HASH_LENGTH)).toString("base64");
}

/** Returns the reason why a file cannot be a variant of a file with `size` bytes, without decompressing it. */
export function faultInBytes(content: FileContent, kind: VariantKind, size: number): string | undefined {
  const { coding, dictionary, magic } = kind;
  const shortest = magic.length + (dictionary ? HASH_LENGTH : 0);
  if (content.size <= shortest || !magic.every((byte, i) => content.head[i] === byte)) return `it is not ${coding}`;
  if (coding === "zstd" && windowInZstd(content) > MAX_WINDOW) {
    return "its window has more than the 8 MiB that browsers take";
  }
  // Gzip's is modulo 2^32 (RFC 1952, section 2.3.1).
  const sizeInGzip = (tail: Uint8Array) => new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  const declared = coding === "gzip" ? sizeInGzip(content.tail) : coding === "zstd" ? sizeInZstd(content) : undefined;
  const modulus = coding === "gzip" ? 2 ** 32 : Infinity;
  if (declared === undefined || declared === size % modulus) return undefined;
  return `it holds ${declared} bytes where the file has ${size}, or ends early`;
}

/** Returns the size of the uncompressed data, if it is in the frame's header (RFC 8878, section 3.1.1.1). */
function sizeInZstd({ head }: FileContent): number | undefined {
  const descriptor = head[4];
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const start = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const form = descriptor >> 6;
  if (form === 0 && !isSingleSegment) return undefined;
  if (head.length < start + 2 ** form) return undefined;
  if (form === 0) return view.getUint8(start);
  if (form === 1) return view.getUint16(start, true) + 256;
  return form === 2 ? view.getUint32(start, true) : Number(view.getBigUint64(start, true));
}

/** Returns the size of the window in bytes (RFC 8878, section 3.1.1.1.2); for a frame of one segment, that of its content. */
function windowInZstd(content: FileContent): number {
  const [, , , , descriptor, exponents] = content.head;
  if ((descriptor & 0x20) !== 0) return sizeInZstd(content) ?? 0;
  const base = 2 ** (10 + (exponents >> 3));
  return base + base / 8 * (exponents & 7);
}

export interface VariantToExamine {
  readonly file: number;
  readonly index: number;
  /** Whether the file is unchanged since the manifest was written: a requirement for valid variants. */
  readonly isAsRecorded: boolean;
}

/** Reads the head and tail of a variant; returns false if they cannot belong to its file. Verified later. */
export async function examineVariant(variant: VariantToExamine, scan: Scan): Promise<boolean> {
  const { index, file } = variant;
  const { found, warn, turns } = scan;
  // Small files are compared with their hash when they are read for sending; large ones are never compared as a whole.
  const isSmall = found.contents.has(index) && found.contents.sizeOf(index) <= SMALL_BODY;
  if (variant.isAsRecorded && isSmall) return true;
  const path = found.realPathOf(file, index);
  try {
    if (variant.isAsRecorded && isVouchedFor(file, index, scan)) return true;
    const content = await readContent(path, turns, Infinity, scan.large);
    const fault = faultOf(content, variant, scan);
    const isVouched = variant.isAsRecorded && found.contents.has(index);
    found.contents.set(index, content.size, content.sha256, "base64");
    found.see(index, content);
    if (fault !== undefined) {
      found.unfit.add(index);
      warn(pathOf(variant, found), `this variant is left out: ${fault}`);
      return false;
    }
    if (!isVouched) found.unproven.add(index);
    const kind = found.kindOf(index)!;
    if (kind.dictionary) found.dictionaries.set(index, dictionaryIn(content, kind));
  } catch (error) {
    if (isShortage(error)) throw error;
    found.contents.clear(index);
    warn(pathOf(variant, found), `this variant is left out: ${reasonOf(error)}`);
  }
  return true;
}

/** Drops unrecorded variants of a file that nothing can verify. */
function leaveOut(file: number, why: string, { found, warn }: Scan, isMeant: (index: number) => boolean): void {
  for (let index = found.firstOf(file) + 1; index < found.firstOf(file + 1); index++) {
    if (!isMeant(index)) continue;
    found.unfit.add(index);
    warn(pathOf({ file, index }, found), `this variant is left out: no manifest vouches for ${why}`);
  }
}

function pathOf({ file, index }: Pick<VariantToExamine, "file" | "index">, found: FileColumns): string {
  return found.paths.at(file) + found.kindOf(index)!.extension;
}

/** Whether the manifest records a representation and its file has not changed since. Links may lead to another file now. */
function isVouchedFor(file: number, index: number, { found, lookedAt, moved }: Scan): boolean {
  if (!found.contents.has(index) || found.isLinked(file, index)) return false;
  const path = found.realPathOf(file, index);
  const now = fileStatus(path);
  if (!now.isFile || now.size !== found.contents.sizeOf(index) || !isAsAt(lookedAt, now)) return false;
  if (moved.has(folderOf(path))) return false;
  const number = fileNumber(now, () => lstatSync(path, { bigint: true }));
  found.see(index, { mtimeMs: now.mtimeMs, number });
  return true;
}

/** Whether a file or one of its variants takes long to read: it is large, and neither known nor vouched for. */
export function isLong(file: number, scan: Scan): boolean {
  const { found, hashLimit, large } = scan;
  for (let index = found.firstOf(file); index < found.firstOf(file + 1); index++) {
    const path = found.realPathOf(file, index);
    try {
      const status = fileStatus(path);
      if (status.size < CHUNK_SIZE || large.has(path, status) || isVouchedFor(file, index, scan)) continue;
      // Variants of a file above the limit are not read.
      return index !== found.firstOf(file) || !isAbove(hashLimit, status);
    } catch {
      return false; // reading the file reports the reason
    }
  }
  return false;
}

function faultOf(content: FileContent, variant: VariantToExamine, { found }: Scan): string | undefined {
  const { file, index, isAsRecorded } = variant;
  const isRecorded = found.contents.has(index);
  const isRecordedOne = isRecorded && content.sha256 === found.contents.sha256Of(index);
  if (isRecorded && isAsRecorded) return isRecordedOne ? undefined : "it is not what precompress wrote; run it again";
  if (isRecordedOne) return "it was made of what the file was before; run precompress again";
  return faultInBytes(content, found.kindOf(index)!, found.contents.sizeOf(found.firstOf(file)));
}

/** Examines a file that an earlier scan left unread. If descriptors are short, it stays unread for a later call. */
export async function examineLater(file: number, scan: Scan): Promise<void> {
  const { contents } = scan.found;
  const before: (() => void)[] = [];
  for (let i = scan.found.firstOf(file); i < scan.found.firstOf(file + 1); i++) {
    const [size, sha256] = contents.has(i) ? [contents.sizeOf(i), contents.sha256Of(i)] : [];
    before.push(() => size === undefined ? contents.clear(i) : contents.set(i, size, sha256!, "base64"));
  }
  try {
    await examine(file, scan);
  } catch (error) {
    for (const restore of before) restore();
    throw error;
  }
}

/** Examines the content of a file and its variants; warns of unexpected ones and drops them. Throws if descriptors are short. */
export async function examine(file: number, scan: Scan): Promise<void> {
  const { found, warn } = scan;
  const { contents } = found;
  const first = found.firstOf(file);
  const end = found.firstOf(file + 1);
  let isAsRecorded = false;
  try {
    isAsRecorded = await examineOriginal(file, first, scan);
  } catch (error) {
    if (isShortage(error)) throw error;
    for (let i = first; i < end; i++) contents.clear(i);
    if (found.siteDictionary === file) found.siteDictionary = undefined;
    return warn(found.paths.at(file), `it is left out: ${reasonOf(error)}`);
  }
  if (!isAsRecorded && found.siteDictionary === file) found.siteDictionary = undefined;
  if (!isAsRecorded) found.immutable?.delete(file); // its content has changed in spite of its record
  if (found.unhashed.has(first)) return leaveOut(file, "its file, which is above hashLimit", scan, () => true);
  let areAllFit = true;
  for (let i = first + 1; i < end; i++) {
    if (!await examineVariant({ file, index: i, isAsRecorded }, scan)) areAllFit = false;
  }
  const why = "it, and another one beside it is not of this file";
  if (!areAllFit) leaveOut(file, why, scan, (index) => found.unproven.delete(index));
}

/** Whether the file has the content that the manifest records. */
async function examineOriginal(file: number, index: number, scan: Scan): Promise<boolean> {
  const { found, warn, doubted, hashLimit, turns } = scan;
  const { contents } = found;
  const path = found.realPathOf(file, index);
  const isRecorded = contents.has(index);
  const isDoubted = doubted.size > 0 && doubted.has(found.paths.at(file));
  if (!isDoubted && isVouchedFor(file, index, scan)) return true;
  const content = await readContent(path, turns, hashLimit, scan.large);
  const { isUnread = false } = content;
  const isAsRecorded = isRecorded && content.sha256 === contents.sha256Of(index);
  if (isUnread) found.unhashed.add(index);
  contents.set(index, content.size, content.sha256, "base64");
  found.see(index, content);
  if (isRecorded && !isAsRecorded && !isUnread) {
    warn(found.paths.at(file), "it changed since precompress ran: what was made of it then is left out; run it again");
  }
  return isAsRecorded;
}
