import { closeSync, lstatSync, type Stats } from "node:fs";
import { join, sep } from "node:path";
import process from "node:process";
import { whileRefused } from "../../files/internal.ts";
import { generationOf, ManifestLines } from "../../precompress/internal.ts";
import { manifestName, readManifest } from "../../precompress/mod.ts";
import type { FileStatus } from "../../runtime/mod.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import { isShortage, latestTime, openToRead, readFullyLater, reasonOf, WHILE_REFUSED } from "./file_content.ts";
import type { FileColumns } from "./found_files.ts";
import type { VariantKind, Warn } from "./representation.ts";

/** The size of a read in bytes. */
const AT_ONCE = 32 * 1024;
/**
 * Reads a manifest line by line, in the form that precompress writes. Returns false for another form: the calls of
 * `add` are then to be discarded.
 */
export async function readManifestLines(
  path: string,
  add: (path: string, record: unknown) => void,
  turns: TurnSlicer,
): Promise<boolean> {
  const file = await whileRefused(() => openToRead(path), WHILE_REFUSED);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const lines = new ManifestLines(add);
    const piece = new Uint8Array(AT_ONCE);
    let length = AT_ONCE;
    while (length === AT_ONCE) {
      length = await readFullyLater(file, piece, AT_ONCE);
      const text = decoder.decode(piece.subarray(0, length), { stream: length === AT_ONCE });
      if (!lines.take(text)) return false;
      if (turns.isOver) await turns.next();
    }
    return lines.isComplete;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false; // an error of JSON, or of UTF-8
    throw error;
  } finally {
    closeSync(file);
  }
}

/** The number of hexadecimal digits of a SHA-256. */
const DIGITS = 64;
/** The states of variants that exist and decode to their file. */
const isThere: ReadonlySet<unknown> = new Set(["kept", "found"]);

/** Returns the SHA-256 in base64 of the dictionary of a file's deltas. */
function recordedDictionary(record: unknown, { dictionary, format }: VariantKind): string | undefined {
  const age = generationOf(format);
  const former = age === 0
    ? ownValue(record, "dictionary")
    : ownValue(ownValue(record, "olderDictionaries"), String(age - 1));
  const hex = dictionary === "former" ? hashAt(former, "sha256") : hashAt(record, "siteDictionary");
  const hash = hex === undefined ? undefined : Buffer.from(hex, "hex");
  return hash?.length === DIGITS / 2 ? hash.toString("base64") : undefined;
}

function hashAt(record: unknown, key: string): string | undefined {
  const hex = ownValue(record, key);
  return typeof hex === "string" && hex.length === DIGITS ? hex : undefined;
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Record<string, unknown>)[key];
}

/** Returns the time of a run's last look at its files, by its manifest; NaN for a copy, beside which files may differ. */
function lookedAt({ mtimeMs, ctimeMs, birthtimeMs }: Stats): number {
  // Some file systems have no births, and macOS moves them back to the mtime.
  const hasNone = birthtimeMs === 0 || process.platform === "darwin" && birthtimeMs === mtimeMs;
  return mtimeMs < (hasNone ? ctimeMs : birthtimeMs) ? mtimeMs : NaN; // a run sets a time before the birth
}

/** Whether a file or folder is as at a look. Its ctime cannot be set: in a copy it is that of the copy. FAT has none on Windows. */
export function isAsAt(lookedAt: number | undefined, file: Pick<FileStatus, "mtimeMs" | "ctimeMs">): boolean {
  const latest = Math.max(file.mtimeMs, latestTime(file.ctimeMs));
  return lookedAt !== undefined && file.ctimeMs >= 0 && latest < lookedAt;
}

/** Returns the folder of a file or folder, with a separator at its end. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf(sep, path.length - 2) + 1);
}

/**
 * Returns the folders below the root that may have been moved to their places since a look, or mounted there, with the
 * folders in them. A folder in which an entry has changed counts as moved, unless a scan before the change saw it.
 */
export function movedSince(lookedAt: number, folders: string[], scans: { folders: Map<string, string> }): Set<string> {
  const moved = new Set<string>();
  const seen = new Map<string, string>();
  const { dev } = lstatSync(folders[0]);
  for (const folder of folders.slice(1)) {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    const identity = `${lookedAt} ${found?.dev} ${found?.ino}`;
    const isSame = found?.dev === dev && (isAsAt(lookedAt, found) || scans.folders.get(folder) === identity);
    if (!isSame || moved.has(folderOf(folder))) moved.add(folder);
    else seen.set(folder, identity);
  }
  scans.folders = seen;
  return moved;
}

/** Sets the contents of `found` by the manifest of `root`, without invalid records; returns the time of its run's last look. */
export async function takeRecords(
  root: string,
  found: FileColumns,
  warn: Warn,
  turns: TurnSlicer,
): Promise<number | undefined> {
  const path = join(root, manifestName);
  const manifest = lstatSync(path, { throwIfNoEntry: false });
  if (!manifest) return undefined;
  try {
    if (!manifest.isFile()) throw new TypeError("it is not a regular file");
    const take = (path: string, record: unknown) => takeRecord(path, record, found);
    if (!await readManifestLines(path, take, turns)) {
      clear(found); // drops the result of reading line by line
      for (const [path, record] of Object.entries((await readManifest(root))?.files ?? {})) take(path, record);
    }
    return lookedAt(manifest);
  } catch (error) {
    if (isShortage(error)) throw error;
    clear(found);
    warn(manifestName, `it is not used, so that every file is read: ${reasonOf(error)}`);
    return undefined;
  }
}

function takeRecord(path: string, record: unknown, found: FileColumns): void {
  const file = found.paths.find(path);
  if (file === undefined) return;
  const { contents, dictionaries } = found;
  const first = found.firstOf(file);
  const immutable = ownValue(record, "immutable");
  if (typeof immutable === "boolean") found.immutable ??= new Set();
  if (immutable === true) found.immutable!.add(file);
  else found.immutable?.delete(file);
  if (typeof ownValue(record, "madeOf") === "string") found.siteDictionary = file;
  const end = found.firstOf(file + 1);
  for (let i = first; i < end; i++) {
    const kind = found.kindOf(i);
    const own = kind ? ownValue(ownValue(record, "variants"), kind.format) : record;
    const isUsed = kind ? isThere.has(ownValue(own, "state")) : ownValue(own, "unread") !== true;
    const [size, sha256] = [ownValue(own, "size"), isUsed ? hashAt(own, "sha256") : undefined];
    const dictionary = kind?.dictionary && recordedDictionary(record, kind);
    contents.clear(i); // a path may occur twice in the manifest
    if (sha256 === undefined || !Number.isSafeInteger(size) || (size as number) < 0) continue;
    if ((kind && !contents.has(first)) || (kind?.dictionary && dictionary === undefined)) continue;
    contents.set(i, size as number, sha256, "hex");
    if (dictionary !== undefined) dictionaries.set(i, dictionary);
  }
}

function clear(found: FileColumns): void {
  for (let i = 0; i < found.contents.length; i++) found.contents.clear(i);
  found.dictionaries.clear();
  found.siteDictionary = undefined;
  found.immutable = undefined;
}
