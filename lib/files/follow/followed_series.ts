import { readdir, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { FileSeries, packedFormats } from "../series/file_series.ts";
import type { FollowedFile, Trail } from "./follow_source.ts";
import { GrowingFile, PackedFile, unlessMissing } from "./growing_file.ts";

/** The files of a series, in the order of their numbers, be they compressed or not. */
export class FollowedSeries implements Trail {
  readonly path: string;
  readonly endsLines = false; // a line that is longer than a file goes on in the next one
  readonly #series: FileSeries;
  readonly #start: "beginning" | "end";
  /** The number of the newest file. */
  #number = 0;
  /** When it was made, in ms since 1970. */
  #made = 0;

  /** @param path The directory and the name of the series. */
  constructor(path: string, start: "beginning" | "end") {
    this.path = path;
    this.#series = new FileSeries(dirname(path), basename(path));
    this.#start = start;
  }

  async first(): Promise<FollowedFile | undefined> {
    if (this.#start === "beginning") return await this.next();
    const number = (await this.#numbers()).at(-1) ?? 0;
    if (number === 0) return undefined;
    const path = this.#series.pathOf(number);
    const file = await unlessMissing(GrowingFile.open(path, "end", false));
    await this.#note(number, path); // of one that is compressed nothing is to be read
    return file;
  }

  async next(): Promise<FollowedFile | undefined> {
    const numbers = await this.#numbers();
    const last = numbers.at(-1) ?? 0;
    if (last > 0 && last < this.#number && await this.#isNewer(last)) this.#number = 0;
    const next = numbers.find((number) => number > this.#number);
    return next === undefined ? undefined : await this.#open(next);
  }

  async #numbers(): Promise<number[]> {
    return this.#series.numbersIn(await unlessMissing(readdir(this.#series.directory)) ?? []);
  }

  /** Opens the file of a number; undefined if it was removed meanwhile. */
  async #open(number: number): Promise<FollowedFile | undefined> {
    const path = this.#series.pathOf(number);
    let file: FollowedFile | undefined = await unlessMissing(GrowingFile.open(path, 0, false));
    for (const { extension, format } of packedFormats) {
      file ??= await unlessMissing(PackedFile.open(`${path}.${extension}`, format));
    }
    if (file !== undefined) await this.#note(number, path);
    return file;
  }

  async #note(number: number, path: string): Promise<void> {
    this.#number = number;
    this.#made = (await unlessMissing(stat(path)))?.birthtimeMs ?? this.#made;
  }

  /** Whether a file is newer than the newest: its series was begun anew, as when all of it was removed. */
  async #isNewer(number: number): Promise<boolean> {
    const status = await unlessMissing(stat(this.#series.pathOf(number)));
    return status !== undefined && status.birthtimeMs > this.#made;
  }
}
