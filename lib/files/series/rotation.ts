import type { WritableStreamDefaultController } from "../../streams/mod.ts";
import { fileFailure } from "../failure.ts";
import type { ItemTarget } from "../item_writer.ts";
import { flushFiles } from "../flush.ts";
import { makeDirectory } from "../folders.ts";
import { openOutputFile, type OutputFile } from "../output_file.ts";
import type { FileSeries } from "./file_series.ts";

/** A writer to the files of a series, in order; the caller ends each file, and makes one call at a time. */
export interface SeriesWriter extends ItemTarget {
  readonly files: readonly string[];
  /** Creates the directory, and checks that the series can be written. The signal aborts a running write. */
  start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void>;
  close(): Promise<void>;
}

/** Writes a series from its first file on. */
export class Rotation implements SeriesWriter {
  readonly maxFileSize: number;
  readonly cutsLines = false;
  readonly files: string[] = [];
  room: number;
  readonly #series: FileSeries;
  readonly #overwrite: boolean;
  readonly #atomic: boolean;
  #file: OutputFile | undefined = undefined;
  #path = "";
  /** The number of complete files at the last flush. */
  #flushed = 0;

  constructor(series: FileSeries, maxFileSize: number, overwrite: boolean, atomic: boolean) {
    this.maxFileSize = this.room = maxFileSize;
    this.#series = series;
    this.#overwrite = overwrite;
    this.#atomic = atomic;
  }

  async start(): Promise<void> {
    await makeDirectory(this.#series.directory);
    if (!this.#overwrite) await this.#series.requireNone();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    this.#file ??= await this.#open();
    if (length > 0) await this.#file.writev(pieces).catch((error) => this.#fail("write", error));
    this.room -= length;
  }

  async rotate(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.room = this.maxFileSize;
    await file.commit().catch((error) => this.#fail("complete", error));
    this.files.push(this.#path);
  }

  async flush(): Promise<void> {
    await this.#file?.sync?.().catch((error) => this.#fail("flush", error));
    const complete = this.files.length;
    // Atomic files were flushed before they got their names.
    if (this.#atomic || complete === this.#flushed) return;
    await flushFiles(this.files.slice(this.#flushed), this.#series.directory);
    this.#flushed = complete;
  }

  async close(): Promise<void> {
    await this.rotate();
    if (this.#overwrite) await this.#series.removeLeftOver();
  }

  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.discard();
  }

  async #open(): Promise<OutputFile> {
    this.#path = this.#series.take(this.files.length + 1);
    if (this.#overwrite && !this.#atomic) await this.#series.removeOther(this.#path);
    const options = { atomic: this.#atomic, replace: this.#overwrite, followLinks: false };
    return await openOutputFile(this.#path, options).catch((error) => this.#fail("create", error));
  }

  #fail(action: string, error: unknown): never {
    throw fileFailure(action, this.#path, error);
  }
}
