import { refuseUnused, requireOption } from "../../streams/internal.ts";
import { fileFailure } from "../failure.ts";
import { flushFiles } from "../flush.ts";
import { makeDirectory } from "../folders.ts";
import { filePath } from "../names.ts";
import { openOutputFile, type OutputFile } from "../output_file.ts";
import { ContinuedRotation, type SeriesWriter } from "./continued_rotation.ts";
import { FileSeries } from "./file_series.ts";
import type { RotationOptions, RotationSchema } from "./rotation_options.ts";

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

const continuing = ["interval", "maxFiles", "maxTotalSize", "maxAge", "compress", "retry", "onWarning"] as const;

/** The maximum size of a name in bytes: systems allow 255, and the name of a lock is up to 75 longer. */
const MAX_NAME_LENGTH = 180;

const intervals = { hour: 3_600_000, day: 86_400_000 } as const;

/** Makes the writer of a series by options that the schema has checked; it opens no file yet. */
export function openSeries(schema: RotationSchema, given: RotationOptions): SeriesWriter | ContinuedRotation {
  const settings = schema(given);
  const directory = filePath(requireOption(schema, settings, "directory"), "directory");
  const maxFileSize = requireOption(schema, settings, "maxFileSize");
  const { name, overwrite, atomic } = settings;
  const series = new FileSeries(directory, name);
  if (settings.append) return continued(series, maxFileSize, settings);
  refuseUnused(given, continuing, "needs append: true: it is for a series that goes on");
  return new Rotation(series, maxFileSize, overwrite, atomic);
}

function continued(series: FileSeries, maxFileSize: number, settings: ReturnType<RotationSchema>): ContinuedRotation {
  const { overwrite, atomic } = settings;
  if (overwrite) throw new TypeError("append and overwrite exclude each other: choose one");
  if (atomic) throw new TypeError("append and atomic exclude each other: the last file goes on to be written");
  if (series.name === undefined) throw new TypeError("append needs a name that is a string, not a function");
  const length = new TextEncoder().encode(series.name).length;
  if (length > MAX_NAME_LENGTH) {
    const reason = "the names of the hidden files beside it are longer";
    throw new RangeError(`name has ${length} bytes: with append it may have ${MAX_NAME_LENGTH}, as ${reason}`);
  }
  const interval = typeof settings.interval === "string" ? intervals[settings.interval] : settings.interval;
  return new ContinuedRotation(series, maxFileSize, { ...settings, interval });
}
