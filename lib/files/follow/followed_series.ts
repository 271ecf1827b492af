import { type BigIntStats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { codeOf } from "../failure.ts";
import { FileSeries, packedFormats } from "../series/file_series.ts";
import type { FileSequence, FollowedFile } from "./follow_source.ts";
import { type FilePath, GrowingFile, isOf, openAny, unlessMissing } from "./growing_file.ts";
import { type Candidate, identify } from "./identify.ts";
import { type FollowPosition, identityOf } from "./line_place.ts";

/** The files of a series, compressed or not, in the order of their numbers. */
export class FollowedSeries implements FileSequence {
  readonly path: string;
  readonly endsLines = false; // a line that is longer than a file continues in the next one
  readonly #series: FileSeries;
  readonly #start: "beginning" | "end" | FollowPosition;
  /** The number of the newest file. */
  number = 0;
  /** The numbers of the last list of the folder that were not opened yet. */
  #ahead: number[] = [];
  /** The time in ms since 1970 at which the newest file was created. */
  #made = 0;

  /** @param path The directory and the name of the series. */
  constructor(path: string, start: "beginning" | "end" | FollowPosition) {
    this.path = path;
    this.#series = new FileSeries(dirname(path), basename(path));
    this.#start = start;
  }

  async first(warn: (error: Error) => void, position?: FollowPosition): Promise<FollowedFile[]> {
    this.#ahead = [];
    const start = position ?? this.#start;
    const file = start === "end"
      ? await this.#last()
      : start === "beginning"
      ? await this.next()
      : await this.#at(start, warn);
    return file === undefined ? [] : [file];
  }

  async #last(): Promise<FollowedFile | undefined> {
    const number = (await this.#numbers()).at(-1) ?? 0;
    if (number === 0) return undefined;
    const path = this.#series.pathOf(number);
    const file = await isFile(path) ? await unlessMissing(GrowingFile.open(path, "end", false)) : undefined;
    return await this.#note(number, path, file); // a compressed file is not read from
  }

  /** Opens the file of a position, or the next one; the first newer file if the series was restarted. */
  async #at(position: FollowPosition, warn: (error: Error) => void): Promise<FollowedFile | undefined> {
    const { file: id, number = 0, time } = position;
    this.number = number;
    this.#made = time;
    if (id === "") return await this.next();
    const before = (await this.#numbers()).findLast((each) => each < number);
    const earlier = before === undefined ? [] : await this.#candidates(before);
    const { file, index } = await identify([...earlier, ...await this.#candidates(number)], position, false, warn);
    if (file !== undefined) return await this.#note(number, this.#series.pathOf(number), file);
    if (index !== -1) return await this.#open(number);
    const lost = "lines behind the position may be lost or read again, as its file is not found";
    warn(new Error(`Cannot go on reading ${this.path}: ${lost}; the files since are read from their beginnings`));
    return await this.#openSince(await this.#numbers(), number, time);
  }

  /** Returns the forms of a series' file, uncompressed and compressed. */
  async #candidates(number: number): Promise<Candidate[]> {
    const found: Candidate[] = [];
    for (const each of pathsOf(this.#series.pathOf(number))) {
      const status = await isFile(each.path) ? await unlessMissing(stat(each.path, { bigint: true })) : undefined;
      if (status !== undefined) found.push({ ...each, identity: identityOf(status), number });
    }
    return found;
  }

  async next(newest?: FollowedFile): Promise<FollowedFile | undefined> {
    const [ahead] = this.#ahead;
    if (ahead !== undefined && !await this.#isAnew(this.number, newest)) {
      const found = await this.#open(ahead);
      this.#ahead.shift();
      if (found !== undefined) return found;
    }
    const numbers = await this.#numbers();
    const known = Math.min(this.number, numbers.at(-1) ?? 0);
    const isAnew = known > 0 && await this.#isAnew(known, newest);
    return await this.#openSince(numbers, isAnew ? known : this.number + 1, isAnew ? this.#made : Infinity);
  }

  /** Opens the first file with that number or a later one, or that was written after `time`. */
  async #openSince(numbers: readonly number[], number: number, time: number): Promise<FollowedFile | undefined> {
    this.#ahead = [];
    for (const [i, each] of numbers.entries()) {
      const isSince = each >= number ||
        time < Infinity && (await this.#candidates(each)).some(({ identity }) => identity.time > time);
      const found = isSince ? await this.#open(each) : undefined;
      if (found === undefined) continue;
      this.#ahead = numbers.slice(i + 1);
      return found;
    }
    return undefined;
  }

  async #numbers(): Promise<number[]> {
    const { directory } = this.#series;
    const names: string[] = [];
    for (const entry of await unlessMissing(readdir(directory, { withFileTypes: true })) ?? []) {
      // The writer skips a number whose name a folder or a pipe has.
      const isOwn = entry.isFile() ||
        this.#series.numbersIn([entry.name]).length > 0 && await isFile(join(directory, entry.name));
      if (isOwn) names.push(entry.name);
    }
    return this.#series.numbersIn(names);
  }

  /** Opens the file with a number; undefined if it was removed meanwhile. */
  async #open(number: number): Promise<FollowedFile | undefined> {
    const path = this.#series.pathOf(number);
    let file: FollowedFile | undefined = undefined;
    for (const each of pathsOf(path)) if (await isFile(each.path)) file ??= await openAny(each, 0, false);
    return file && await this.#note(number, path, file);
  }

  async #note<F extends FollowedFile | undefined>(number: number, path: string, file: F): Promise<F> {
    this.number = number;
    const status = await unlessMissing(stat(path, { bigint: true }));
    if (status !== undefined) this.#made = madeAt(status);
    if (file !== undefined) file.number = number;
    return file;
  }

  /** Whether the file with a number is not the newest one, or was made after it: its series was removed and restarted. */
  async #isAnew(number: number, newest: FollowedFile | undefined): Promise<boolean> {
    const path = this.#series.pathOf(number);
    const status = await unlessMissing(stat(path, { bigint: true }));
    if (status === undefined) return false;
    const now = (): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });
    if (number === newest?.number && "status" in newest) return !isOf(status, newest, now);
    return madeAt(status) > this.#made;
  }
}

/**
 * Returns the time in ms since 1970 of a file's birth, or of its last write if the disk has none. On Windows, a file may
 * get the birth time of one that had its name up to 15 s before.
 */
function madeAt({ birthtimeNs, mtimeNs }: BigIntStats): number {
  const isBorn = birthtimeNs > 0 && (process.platform !== "win32" || mtimeNs <= birthtimeNs);
  return Number((isBorn ? birthtimeNs : mtimeNs) / 1_000_000n);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error)!)) return false; // the link's target may be missing
    throw error;
  }
}

/** Returns the paths of a series' file: uncompressed, and compressed. */
function pathsOf(path: string): FilePath[] {
  const packed = packedFormats.map(({ format, extension }) => ({ path: `${path}.${extension}`, format }));
  return [{ path, format: undefined }, ...packed];
}
