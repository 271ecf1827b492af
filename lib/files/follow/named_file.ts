import { type BigIntStats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { listedName } from "../names.ts";
import { packedFormatOf } from "../series/file_series.ts";
import type { FileSequence, FollowedFile } from "./follow_source.ts";
import { GrowingFile, isOf, openAny, unlessMissing } from "./growing_file.ts";
import { type Candidate, identify } from "./identify.ts";
import { type FollowPosition, identityOf } from "./line_place.ts";

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

  async first(warn: (error: Error) => void, position?: FollowPosition): Promise<FollowedFile[]> {
    const start = position ?? this.#start;
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
    const { index, file } = await identify(named, position, true);
    const first = file ? index : named.findIndex((each, i) => {
      const { format, identity: { born, time } } = each;
      if (i === index || each.label === "" || time > position.time) return true;
      if (position.file === "") return time >= position.time - stepOf(time);
      if (index === -1 && format !== undefined) return time > position.time - COMPRESSED_STEP;
      return time === position.time && (index === -1 || born > position.born); // otherwise it was read before
    });
    const others = first === -1 ? [] : named.slice(file ? first + 1 : first);
    const files = [...file ? [file] : [], ...await openAll(others)];
    const isSame = named.map(keyOf).join() === (await this.#named()).map(keyOf).join();
    if (!isSame) { // the files were renamed while they were opened
      await Promise.all(files.map((file) => file.close()));
      return await this.#resume(position, warn);
    }
    if (position.file !== "" && (first === -1 || first !== index)) {
      const lost = "lines behind the position may be lost or read again, as its file is not found";
      const read = first === -1 ? "its next file" : basename(named[first].path);
      warn(new Error(`Cannot go on reading ${this.path}: ${lost}; ${read} is read from its beginning`));
    }
    return files;
  }

  /** Returns the files that have or had the name, as logrotate renames them, in the order of their last writes. */
  async #named(): Promise<NamedAs[]> {
    const folder = dirname(this.path);
    const names = await unlessMissing(readdir(folder)) ?? [];
    const name = listedName(this.path, names);
    const extension = extname(name);
    const stem = name.slice(0, name.length - extension.length);
    const labelOf = (plain: string): string | undefined => {
      if (plain === name) return "";
      const inside = plain.startsWith(stem) && plain.endsWith(extension)
        ? ROTATED.exec(plain.slice(stem.length, plain.length - extension.length))
        : null;
      return (inside ?? (plain.startsWith(name) ? ROTATED.exec(plain.slice(name.length)) : null))?.[1];
    };
    const found: NamedAs[] = [];
    for (const each of names) {
      const packed = labelOf(each) === undefined ? packedFormatOf(each) : undefined;
      const plain = packed === undefined ? each : each.slice(0, -packed.extension.length - 1);
      const label = labelOf(plain);
      if (label === undefined || packed !== undefined && (label === "" || names.includes(plain))) continue;
      const path = join(folder, each);
      const status = await unlessMissing(stat(path, { bigint: true }));
      if (!status?.isFile()) continue;
      found.push({ path, format: packed?.format, identity: identityOf(status), label });
    }
    return found.sort(inOrder);
  }
}

/** Opens files for reading from their beginnings. */
async function openAll(named: readonly NamedAs[]): Promise<FollowedFile[]> {
  const files = await Promise.all(named.map((each) => openAny(each, 0, true)));
  return files.filter((file) => file !== undefined);
}

const ROTATED = /^[.-](\d[\d.T_-]*)$/;
/** A date in the name of a rotated file. A number with fewer digits is the file's rank, counted from the newest. */
const DATE = /(?:\d\D?){8}/;

interface NamedAs extends Candidate {
  /** The number or date in the name of a rotated file; `""` for the current one. */
  readonly label: string;
}

/** The time in ms by which a compressed file's time may be early: compressors may keep only whole seconds. */
const COMPRESSED_STEP = 1000;

function inOrder(one: NamedAs, other: NamedAs): number {
  if (one.label === "" || other.label === "") return Number(one.label === "") - Number(other.label === "");
  const isCompressed = (one.format ?? other.format) !== undefined;
  const between = one.identity.time - other.identity.time;
  const written = isCompressed && Math.abs(between) < COMPRESSED_STEP ? 0 : between;
  const born = isCompressed ? 0 : one.identity.born - other.identity.born;
  const isNamedFirst = DATE.test(one.label) ? one.label < other.label : parseInt(one.label) > parseInt(other.label);
  return written || born || (isNamedFirst ? -1 : 1);
}

/** Returns the time in ms by which a file system's clock may be late: that of FAT has steps of two seconds. */
function stepOf(time: number): number {
  return time % 1000 === 0 ? 2000 : 20;
}

function keyOf({ path, identity }: NamedAs): string {
  return `${identity.file} ${path}`;
}
