import type { Dirent } from "node:fs";
import { existsSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import process from "node:process";
import { described } from "../../streams/internal.ts";
import { failing } from "../failure.ts";
import { foldedName, refusedOnWindows } from "../names.ts";
import { whileRefused } from "../rename.ts";

/** Digits of a file's number; later ones have more. */
const DIGITS = 5;
/** The largest number that a name or a record may tell: those that follow it are exact, too. */
export const MAX_NUMBER: number = 2 ** 52;

export type SeriesFormat = "zstd" | "gzip" | "brotli";

/** The formats of compressed files, with their extensions and a level that keeps up with a fast log. */
export const packedFormats: readonly { format: SeriesFormat; extension: string; level: number }[] = [
  { format: "zstd", extension: "zst", level: 3 },
  { format: "gzip", extension: "gz", level: 6 },
  { format: "brotli", extension: "br", level: 5 },
];

/** Returns the format that the extension of a compressed file tells, behind the name that the file had before. */
export function packedFormatOf(name: string): typeof packedFormats[number] | undefined {
  return packedFormats.find(({ extension }) => name.endsWith(`.${extension}`));
}

/** The names of a series of files in one directory: the number of a file makes its name. */
export class FileSeries {
  readonly directory: string;
  /** The name that all names are made of; undefined if a caller's function makes them. */
  readonly name: string | undefined;
  readonly #nameOf: (number: number) => string;
  /** Returns the number of a file from its name; undefined with a caller's function, which cannot be inverted. */
  readonly #numberOf: ((name: string) => number | undefined) | undefined;
  /** Returns the name of the series that a name differs from in case or normalization at most. */
  readonly #spelt: ((name: string) => string | undefined) | undefined;
  /** The names that were given out; more than one file under one name would be the last of them. */
  readonly #used: Set<string> = new Set();

  /** @throws {TypeError} if the name is no plain file name. */
  constructor(directory: string, name: string | ((number: number) => string)) {
    this.directory = directory;
    this.name = typeof name === "string" ? name : undefined;
    if (typeof name === "function") {
      this.#nameOf = (number) => ownName(checkedName(name(number), `name(${number})`), `name(${number})`);
      return;
    }
    const extension = extname(checkedName(name, "name"));
    const stem = `${name.slice(0, name.length - extension.length)}-`;
    this.#nameOf = (number) => `${stem}${String(number).padStart(DIGITS, "0")}${extension}`;
    this.#numberOf = (found) => {
      if (!found.startsWith(stem) || !found.endsWith(extension)) return undefined;
      const number = Number(found.slice(stem.length, found.length - extension.length));
      return number <= MAX_NUMBER && this.#nameOf(number) === found ? number : undefined;
    };
    const [start, end] = [foldedName(stem), foldedName(extension)];
    this.#spelt = (listed) => {
      const folded = foldedName(listed);
      const [, digits, rest] = /^(\d+)(.*)$/s.exec(folded.startsWith(start) ? folded.slice(start.length) : "") ?? [];
      if (digits === undefined || !rest.startsWith(end)) return undefined;
      const own = this.#nameOf(Number(digits)) + rest.slice(end.length).toLowerCase();
      return foldedName(own) === folded ? own : undefined;
    };
    ownName(this.#nameOf(1), "name");
  }

  /** The path of a file before it is compressed. */
  pathOf(number: number): string {
    return join(this.directory, this.#nameOf(number));
  }

  /** The numbers of the names that are of the series, compressed or not, whatever made the files; in order. */
  numbersIn(names: readonly string[]): number[] {
    const numbers = names.flatMap((listed) => {
      const name = this.#ownOf(listed, names);
      const { extension } = packedFormatOf(name) ?? { extension: "" };
      return this.#numberOf?.(name) ?? this.#numberOf?.(name.slice(0, -extension.length - 1)) ?? [];
    });
    return numbers.sort((one, other) => one - other);
  }

  /** Returns a listed name as the series spells it where the file system takes one, which is not listed, for the other. */
  #ownOf(listed: string, names: readonly string[]): string {
    const own = this.#spelt?.(listed) ?? listed;
    return own !== listed && !names.includes(own) && existsSync(join(this.directory, own)) ? own : listed;
  }

  /** The path for a file that is to be written. */
  take(number: number): string {
    const name = this.#nameOf(number);
    if (this.#used.has(name)) {
      throw new TypeError(`name(${number}) is ${described(name)}, as of a file before: each file needs its own name`);
    }
    this.#used.add(name);
    return join(this.directory, name);
  }

  /** Lists the entries of the directory with names of the series, except those that were taken. */
  async leftOver(): Promise<Dirent[]> {
    const found = await readdir(this.directory, { withFileTypes: true }).catch(failing("list", this.directory));
    const numberOf = this.#numberOf;
    // A series without gaps has no number above that of all files, whatever they are.
    const names = numberOf === undefined ? this.#firstNames(found.length) : undefined;
    const isOfSeries = (name: string): boolean => names ? names.has(name) : numberOf!(name)! > 0;
    const listed = found.map(({ name }) => name);
    return found.filter((entry) => {
      const name = this.#ownOf(entry.name, listed);
      return isOfSeries(name) && !this.#used.has(name);
    });
  }

  async requireNone(): Promise<void> {
    const [first, ...others] = (await this.leftOver()).map(({ name }) => name).sort();
    if (first === undefined) return;
    const exists = others.length === 0 ? `${first} exists` : `${first} and ${others.length} more of its series exist`;
    const hint = "pass overwrite: true to replace what is there, or another name or directory";
    const message = `Cannot write to ${this.directory}: ${exists} already; ${hint}`;
    throw Object.assign(new Error(message), { code: "EEXIST" });
  }

  /** Removes the files of the series that were not written this time. */
  async removeLeftOver(): Promise<void> {
    for (const entry of await this.leftOver()) {
      const path = join(this.directory, entry.name);
      if (entry.isDirectory()) continue;
      await whileRefused(() => rm(path, { force: true })).catch(failing("remove", path));
    }
  }

  /** Removes what has the path of a file to be overwritten and is a link or one of a file's several names: not what it leads to. */
  async removeOther(path: string): Promise<void> {
    const status = await lstat(path).catch(() => undefined);
    if (status === undefined || status.isDirectory() || status.isFile() && status.nlink <= 1) return;
    await whileRefused(() => rm(path, { force: true })).catch(failing("remove", path));
  }

  /** The first names, where a caller's function makes them; it may know fewer. */
  #firstNames(count: number): Set<string> {
    const names = new Set<string>();
    try {
      for (let number = 1; number <= count; number++) names.add(this.#nameOf(number));
    } catch {
      // It will throw again if that number is needed.
    }
    return names;
  }
}

/** Whether a name is that of a file in a directory, without a path. */
export function isFileName(name: string): boolean {
  return !/^(?:|\.|\.\.)$|[/\\\0]/.test(name);
}

function checkedName(name: unknown, what: string): string {
  if (typeof name !== "string" || !isFileName(name)) {
    throw new TypeError(`${what} must be a plain file name without a path, not ${described(name)}`);
  }
  return name;
}

/** @throws {TypeError} if Windows takes the name for another one: `a:b` is a stream of the file `a` there. */
function ownName(name: string, what: string): string {
  const fault = process.platform === "win32" ? refusedOnWindows(name) : undefined;
  if (fault === undefined) return name;
  throw new TypeError(`${what} must be a plain file name, not ${described(name)}: ${fault}`);
}
