import { type BigIntStats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { listedName } from "../names.ts";
import { packedFormatOf } from "../series/file_series.ts";
import type { FollowPosition } from "./line_place.ts";
import type { FileSequence, FollowedFile } from "./follow_source.ts";
import { type FilePath, GrowingFile, idOf, isOf, openAny, openAt, unlessMissing } from "./growing_file.ts";

/** The file with a name and, after a restart, those that had the name before. */
export class NamedFile implements FileSequence {
  readonly path: string;
  readonly endsLines = true;
  readonly number = undefined;
  readonly #start: number | "end" | FollowPosition;

  constructor(path: string, start: number | "end" | FollowPosition) {
    this.path = path;
    this.#start = start;
  }

  async first(warn: (error: Error) => void): Promise<FollowedFile[]> {
    const start = this.#start;
    if (typeof start === "object") return await this.#resume(start, warn);
    const file = await unlessMissing(GrowingFile.open(this.path, start, true));
    return file === undefined ? [] : [file];
  }

  async next(newest: FollowedFile | undefined): Promise<FollowedFile | undefined> {
    if (newest !== undefined) {
      const status = await unlessMissing(stat(this.path, { bigint: true }));
      const now = (): BigIntStats | undefined => statSync(this.path, { bigint: true, throwIfNoEntry: false });
      if (status === undefined || isOf(status, newest, now)) return undefined;
    }
    const file = await unlessMissing(GrowingFile.open(this.path, 0, true));
    if (file === undefined || newest === undefined || !isOf(file.status, newest, () => file.status)) return file;
    await file.close();
    return undefined;
  }

  /** Opens the file of a position, and those that had the name after it. */
  async #resume(position: FollowPosition, warn: (error: Error) => void): Promise<FollowedFile[]> {
    const named = await this.#named();
    let files: FollowedFile[] = [];
    const isUnread = position.offset === 0;
    const isShared = isUnread && named.filter(({ id }) => id === position.file).length > 1; // on a disk without numbers
    // The file's own identity is more reliable than bytes, since logs may have equal lines.
    for (const each of [...named].sort((one, other) => rank(one, position) - rank(other, position))) {
      const file = isShared ? undefined : await openAt(each, position, true);
      if (file === undefined) continue;
      files = [file, ...await openAll(named.slice(named.indexOf(each) + 1))];
      break;
    }
    // No byte of it was read before: only bytes written since the position are to be read.
    const isNew = files.length === 0 && isUnread;
    if (isNew) {
      const since = BigInt(Math.floor(position.time) - CLOCK_STEP) * 1_000_000n;
      const first = named.findIndex(({ written, isCurrent }) => isCurrent || written >= since);
      // The file before may be the position's own, unless it has a line, which would have been read.
      const own = isShared && first > 0 && !await hasLine(named[first - 1]!) ? first - 1 : first;
      if (first !== -1) files = await openAll(named.slice(own));
    }
    const isSame = named.map(keyOf).join() === (await this.#named()).map(keyOf).join();
    if (!isSame) { // the files were renamed while they were opened
      await Promise.all(files.map((file) => file.close()));
      return await this.#resume(position, warn);
    }
    if (files.length > 0 || isNew) return files;
    const file = await unlessMissing(GrowingFile.open(this.path, 0, true));
    if (file?.id !== position.file) {
      const lost = "lines behind the position may be lost, as its file is gone";
      warn(new Error(`Cannot go on reading ${this.path}: ${lost}; it is read from its beginning`));
    }
    return file === undefined ? [] : [file];
  }

  /** Returns the files that have or had the name, as logrotate renames them, in the order of their last writes. */
  async #named(): Promise<NamedAs[]> {
    const folder = dirname(this.path);
    const names = await unlessMissing(readdir(folder)) ?? [];
    const name = listedName(this.path, names);
    const extension = extname(name);
    const stem = name.slice(0, name.length - extension.length);
    const isRotated = (plain: string): boolean =>
      plain.startsWith(stem) && plain.endsWith(extension) &&
        ROTATED.test(plain.slice(stem.length, plain.length - extension.length)) ||
      plain.startsWith(name) && ROTATED.test(plain.slice(name.length));
    const found: NamedAs[] = [];
    for (const each of names) {
      const isCurrent = each === name;
      const packed = isCurrent || isRotated(each) ? undefined : packedFormatOf(each);
      const plain = packed === undefined ? each : each.slice(0, -packed.extension.length - 1);
      if (!isCurrent && !isRotated(plain)) continue;
      if (packed !== undefined && names.includes(plain)) continue; // the file is being compressed
      const path = join(folder, each);
      const status = await unlessMissing(stat(path, { bigint: true }));
      if (!status?.isFile()) continue;
      found.push({ path, format: packed?.format, id: idOf(status), isCurrent, written: status.mtimeNs });
    }
    return found.sort((one, other) =>
      Number(one.isCurrent) - Number(other.isCurrent) || Number(one.written - other.written)
    );
  }
}

/** Whether a file has a line feed in its first bytes, as many as are read at once. */
async function hasLine(named: NamedAs): Promise<boolean> {
  const file = await openAny(named, 0, true);
  try {
    return (await file?.read(Infinity))?.includes(LINE_FEED) ?? false;
  } finally {
    await file?.close();
  }
}

/** Opens files for reading from their beginnings. */
async function openAll(named: readonly NamedAs[]): Promise<FollowedFile[]> {
  const files = await Promise.all(named.map((each) => openAny(each, 0, true)));
  return files.filter((file) => file !== undefined);
}

/** The time in ms by which file systems' clocks may be late. */
const CLOCK_STEP = 20;
const LINE_FEED = 10;
const ROTATED = /^[.-]\d[\d.T_-]*$/;

interface NamedAs extends FilePath {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly written: bigint;
}

function rank({ id, isCurrent }: NamedAs, { file }: FollowPosition): number {
  return id === file ? 0 : isCurrent ? 2 : 1;
}

function keyOf({ path, id }: NamedAs): string {
  return `${id} ${path}`;
}
