import type { Dirent } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import process from "node:process";
import { described } from "../../streams/internal.ts";
import { failing } from "../failure.ts";
import { refusedOnWindows } from "../names.ts";
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
  /** The name that all names are made of. */
  readonly name: string;
  readonly #stem: string;
  readonly #extension: string;

  /** @throws {TypeError} if the name is no plain file name. */
  constructor(directory: string, name: string) {
    if (!isFileName(name)) {
      throw new TypeError(`name must be a plain file name without a path, not ${described(name)}`);
    }
    this.directory = directory;
    this.name = name;
    this.#extension = extname(name);
    this.#stem = `${name.slice(0, name.length - this.#extension.length)}-`;
    const fault = process.platform === "win32" ? refusedOnWindows(this.#nameOf(1)) : undefined;
    if (fault === undefined) return;
    throw new TypeError(`name must be a plain file name, not ${described(name)}: ${fault}`);
  }

  #nameOf(number: number): string {
    return `${this.#stem}${String(number).padStart(DIGITS, "0")}${this.#extension}`;
  }

  #numberOf(name: string): number | undefined {
    if (!name.startsWith(this.#stem) || !name.endsWith(this.#extension)) return undefined;
    const number = Number(name.slice(this.#stem.length, name.length - this.#extension.length));
    return number <= MAX_NUMBER && this.#nameOf(number) === name ? number : undefined;
  }

  /** The path of a file before it is compressed. */
  pathOf(number: number): string {
    return join(this.directory, this.#nameOf(number));
  }

  /** The numbers of the names that are of the series, compressed or not, whatever made the files; in order. */
  numbersIn(names: readonly string[]): number[] {
    const numbers = names.flatMap((name) => {
      const { extension } = packedFormatOf(name) ?? { extension: "" };
      return this.#numberOf(name) ?? this.#numberOf(name.slice(0, -extension.length - 1)) ?? [];
    });
    return numbers.sort((one, other) => one - other);
  }

  /** Lists the entries of the directory with names of the series and numbers above `last`. */
  async leftOver(last: number): Promise<Dirent[]> {
    const found = await readdir(this.directory, { withFileTypes: true }).catch(failing("list", this.directory));
    return found.filter(({ name }) => this.#numberOf(name)! > last);
  }

  async requireNone(): Promise<void> {
    const [first, ...others] = (await this.leftOver(0)).map(({ name }) => name).sort();
    if (first === undefined) return;
    const exists = others.length === 0 ? `${first} exists` : `${first} and ${others.length} more of its series exist`;
    const hint = "pass overwrite: true to replace what is there, or another name or directory";
    const message = `Cannot write to ${this.directory}: ${exists} already; ${hint}`;
    throw Object.assign(new Error(message), { code: "EEXIST" });
  }

  /** Removes the files of the series behind the one with the number `last`. */
  async removeLeftOver(last: number): Promise<void> {
    for (const entry of await this.leftOver(last)) {
      const path = join(this.directory, entry.name);
      if (entry.isDirectory()) continue;
      await whileRefused(() => rm(path, { force: true })).catch(failing("remove", path));
    }
  }

  /** Removes what has the path of a file to be overwritten and is a link or one of a file's several names: not what it leads to. */
  async removeOther(path: string): Promise<void> {
    const status = await lstat(path).catch(() => undefined);
    if (status === undefined || status.isDirectory() || status.isFile() && status.nlink === 1) return;
    await whileRefused(() => rm(path, { force: true })).catch(failing("remove", path));
  }
}

/** Whether a name is that of a file in a directory, without a path. */
export function isFileName(name: string): boolean {
  return !/^(?:|\.|\.\.)$|[/\\\0]/.test(name);
}
