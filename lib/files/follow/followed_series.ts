import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FileSeries } from "../file_series.ts";
import { packedFormats } from "../series/series_packer.ts";
import type { FollowedFile, Trail } from "./followed_file.ts";
import { GrowingFile } from "./growing_file.ts";
import { PackedFile } from "./packed_file.ts";
import { unlessMissing } from "./unless_missing.ts";

/** The files of a series, in the order of their numbers, be they compressed or not. */
export class FollowedSeries implements Trail {
  readonly path: string;
  readonly #series: FileSeries;
  readonly #start: "beginning" | "end";
  /** The number of the newest file. */
  #number = 0;

  /** @param path The directory and the name of the series. */
  constructor(path: string, start: "beginning" | "end") {
    this.path = path;
    this.#series = new FileSeries(dirname(path), basename(path));
    this.#start = start;
  }

  async first(): Promise<FollowedFile | undefined> {
    if (this.#start === "beginning") return await this.next();
    const number = Math.max(0, ...await this.#numbers());
    if (number === 0) return undefined;
    const file = await unlessMissing(GrowingFile.open(this.#pathOf(number), "end", false));
    this.#number = number; // of one that is compressed nothing is to be read
    return file;
  }

  async next(): Promise<FollowedFile | undefined> {
    const number = Math.min(...(await this.#numbers()).filter((number) => number > this.#number));
    return number === Infinity ? undefined : await this.#open(number);
  }

  async #numbers(): Promise<number[]> {
    const names = await unlessMissing(readdir(this.#series.directory)) ?? [];
    return names.flatMap((name) => {
      const packed = packedFormats.find(({ extension }) => name.endsWith(`.${extension}`));
      const plain = packed === undefined ? name : name.slice(0, -packed.extension.length - 1);
      return this.#series.numberOf(name) ?? this.#series.numberOf(plain) ?? [];
    });
  }

  /** Opens the file of a number; undefined if it was removed meanwhile. */
  async #open(number: number): Promise<FollowedFile | undefined> {
    const path = this.#pathOf(number);
    let file: FollowedFile | undefined = await unlessMissing(GrowingFile.open(path, 0, false));
    for (const { extension, format } of packedFormats) {
      file ??= await unlessMissing(PackedFile.open(`${path}.${extension}`, format));
    }
    if (file !== undefined) this.#number = number;
    return file;
  }

  #pathOf(number: number): string {
    return join(this.#series.directory, this.#series.nameOf(number));
  }
}
