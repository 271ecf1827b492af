import type { Dirent } from "node:fs";
import { existsSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import process from "node:process";
import { described } from "../../streams/internal.ts";
import { failing, ignoreMissing } from "../failure.ts";
import { foldedName, refusedOnWindows } from "../names.ts";
import { whileRefused } from "../rename.ts";

/** The minimum number of digits of a file's number. */
const DIGITS = 5;
/** The maximum number in a name or a record, so that later ones are exact, too. */
export const MAX_NUMBER: number = 2 ** 52;

export type SeriesFormat = "zstd" | "gzip" | "brotli";

/** The formats of compressed files, their extensions, and a level that is fast enough for a busy log. */
export const packedFormats: readonly { format: SeriesFormat; extension: string; level: number }[] = [
  { format: "zstd", extension: "zst", level: 3 },
  { format: "gzip", extension: "gz", level: 6 },
  { format: "brotli", extension: "br", level: 5 },
];

/** Returns the format by the extension of a compressed file, after the file's original name. */
export function packedFormatOf(name: string): typeof packedFormats[number] | undefined {
  return packedFormats.find(({ extension }) => name.endsWith(`.${extension}`));
}

/** The names of a series' files in one directory, made from the files' numbers. */
export class FileSeries {
  readonly directory: string;
  /** The base of all names; undefined if a caller's function makes them. */
  readonly name: string | undefined;
  readonly #nameOf: (number: number) => string;
  /** Returns the number of a file from its name; undefined with a caller's function, which cannot be inverted. */
  readonly #numberOf: ((name: string) => number | undefined) | undefined;
  /** Returns the series' name that differs from a given one at most in case or normalization. */
  readonly #spelt: ((name: string) => string | undefined) | undefined;
  /** The names in use, each for one file only. */
  readonly #used: Set<string> = new Set();

  /** @throws {TypeError} if the name is not a plain file name. */
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

  /** Returns the path of a file before it is compressed. */
  pathOf(number: number): string {
    return join(this.directory, this.#nameOf(number));
  }

  /** Returns the different numbers of listed names that belong to the series, compressed or not, in order, whichever program created the files. */
  numbersIn(names: readonly string[]): number[] {
    const numbers = names.flatMap((listed) => {
      return this.#numberIn(listed) ?? this.#numberIn(this.#ownOf(listed, names)) ?? [];
    });
    return [...new Set(numbers)].sort((one, other) => one - other);
  }

  /** Returns the number of a file, compressed or not, from its name in the series' spelling. */
  #numberIn(name: string): number | undefined {
    const { extension } = packedFormatOf(name) ?? { extension: "" };
    return this.#numberOf?.(name) ?? this.#numberOf?.(name.slice(0, -extension.length - 1));
  }

  /** Returns a listed name in the series' spelling if the file system treats both as the same and only one is listed. */
  #ownOf(listed: string, names: readonly string[]): string {
    const own = this.#spelt?.(listed) ?? listed;
    return own !== listed && !names.includes(own) && existsSync(join(this.directory, own)) ? own : listed;
  }

  /** Returns the path for a new file. */
  take(number: number): string {
    const name = this.#nameOf(number);
    if (this.#used.has(name)) {
      throw new TypeError(`name(${number}) is ${described(name)}, as of a file before: each file needs its own name`);
    }
    this.#used.add(name);
    return join(this.directory, name);
  }

  /** Lists the directory's entries with names of the series, except those in use. */
  async leftOver(): Promise<Dirent[]> {
    const found = await readdir(this.directory, { withFileTypes: true }).catch(failing("list", this.directory));
    const numberOf = this.#numberOf;
    // In a series without gaps, no number exceeds the count of all files.
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

  /** Removes a link, or one of a file's several names, at the path of a file to be overwritten, so that its target stays unchanged. */
  async removeOther(path: string): Promise<void> {
    const status = await lstat(path).catch(ignoreMissing).catch(failing("open", path));
    if (status === undefined || status.isDirectory() || status.isFile() && status.nlink <= 1) return;
    await whileRefused(() => rm(path, { force: true })).catch(failing("remove", path));
  }

  /** Returns the first names if a caller's function makes them, possibly fewer. */
  #firstNames(count: number): Set<string> {
    const names = new Set<string>();
    try {
      for (let number = 1; number <= count; number++) names.add(this.#nameOf(number));
    } catch {
      // The function throws again if that number is needed.
    }
    return names;
  }
}

/** Whether a name is a file's name in a directory, without a path. */
export function isFileName(name: string): boolean {
  return !/^(?:|\.|\.\.)$|[/\\\0]/.test(name);
}

function checkedName(name: unknown, what: string): string {
  if (typeof name !== "string" || !isFileName(name)) {
    throw new TypeError(`${what} must be a plain file name without a path, not ${described(name)}`);
  }
  return name;
}

/** @throws {TypeError} if the name means another file on Windows, where `a:b` is a stream of the file `a`. */
function ownName(name: string, what: string): string {
  const fault = process.platform === "win32" ? refusedOnWindows(name) : undefined;
  if (fault === undefined) return name;
  throw new TypeError(`${what} must be a plain file name, not ${described(name)}: ${fault}`);
}
