import { type BigIntStats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { codeOf } from "../failure.ts";
import { listedName } from "../names.ts";
import { isSureNumber } from "../open_file.ts";
import { packedFormatOf } from "../series/file_series.ts";
import type { FileSequence, FollowedFile } from "./follow_source.ts";
import { GrowingFile, isOf, openAny, unlessMissing } from "./growing_file.ts";
import { type Candidate, identify, mayBeLater } from "./identify.ts";
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
    const { index, file } = await identify(named, position, true, warn);
    const first = file ? index : named.findIndex((each, i) => {
      const { born, time } = each.identity;
      if (i === index || each.label === "" || time > position.time) return true;
      if (index === -1) return mayBeLater(each, position.time);
      return time === position.time && born > position.born; // otherwise it was read before
    });
    const others = first === -1 ? [] : named.slice(file ? first + 1 : first);
    const files = file ? [file] : [];
    try {
      for (const each of others) {
        const opened = await openAny(each, 0, true);
        if (opened !== undefined) files.push(opened);
      }
      const isSame = named.map(keyOf).join() === (await this.#named()).map(keyOf).join();
      if (!isSame) { // the files were renamed while they were opened
        await closeAll(files.splice(0));
        return await this.#resume(position, warn);
      }
    } catch (error) {
      await closeAll(files);
      throw error;
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
        ? INSIDE.exec(plain.slice(stem.length, plain.length - extension.length))
        : null;
      return (inside ?? BEHIND.exec(plain.startsWith(name) && extension !== "" ? plain.slice(name.length) : ""))?.[1];
    };
    const found: NamedAs[] = [];
    for (const each of names) {
      const packed = labelOf(each) === undefined ? packedFormatOf(each) : undefined;
      const plain = packed === undefined ? each : each.slice(0, -packed.extension.length - 1);
      const label = labelOf(plain);
      if (label === undefined || packed !== undefined && (label === "" || names.includes(plain))) continue;
      const path = join(folder, each);
      const status = await statusOf(path);
      if (!status?.isFile()) continue;
      const isNumbered = isSureNumber(status.ino);
      found.push({ path, format: packed?.format, identity: identityOf(status), label, isNumbered });
    }
    found.sort(inOrder);
    const last = new Map(found.map((each) => [each.identity.file, each]));
    // The name may be a link to the dated file beside it.
    return found.filter((each) => !each.isNumbered || last.get(each.identity.file) === each);
  }
}

/** Returns the status of a path; undefined if nothing is there, or a link that leads nowhere. */
async function statusOf(path: string): Promise<BigIntStats | undefined> {
  return await unlessMissing(stat(path, { bigint: true })).catch((error) => {
    if (["ELOOP", "ENOTDIR", "EACCES"].includes(codeOf(error)!)) return undefined;
    throw error;
  });
}

async function closeAll(files: readonly FollowedFile[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}

/** A rank or a date behind the name. */
const BEHIND = /^[.-](\d[\d.T_-]*)$/;
/** A rank or a date before the extension: less than six digits behind a hyphen may be another program's instance. */
const INSIDE = /^(?:\.|-(?=(?:\d[.T_-]?){5}\d))(\d[\d.T_-]*)$/;
/** A rank, counted from the newest file. */
const RANKED = /^\d{1,5}$/;

interface NamedAs extends Candidate {
  /** The number or date in the name of a rotated file; `""` for the current one. */
  readonly label: string;
  /** Whether the inode number identifies the file. */
  readonly isNumbered: boolean;
}

/** The time in ms by which a compressed file's time may be early: compressors may keep only whole seconds. */
const COMPRESSED_STEP = 1000;

function inOrder(one: NamedAs, other: NamedAs): number {
  if (one.label === "" || other.label === "") return Number(one.label === "") - Number(other.label === "");
  const isCompressed = (one.format ?? other.format) !== undefined;
  const between = one.identity.time - other.identity.time;
  const written = isCompressed && Math.abs(between) < COMPRESSED_STEP ? 0 : between;
  const born = isCompressed ? 0 : one.identity.born - other.identity.born;
  const isNamedFirst = RANKED.test(one.label) ? parseInt(one.label) > parseInt(other.label) : one.label < other.label;
  return written || born || (isNamedFirst ? -1 : 1);
}

function keyOf({ path, identity }: NamedAs): string {
  return `${identity.file} ${path}`;
}
