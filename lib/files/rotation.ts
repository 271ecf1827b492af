import { requireKnown } from "../streams/internal.ts";
import { fileFailure } from "./failure.ts";
import { filePath } from "./file_path.ts";
import { FileSeries } from "./file_series.ts";
import { makeDirectory } from "./make_directory.ts";
import { openOutputFile, type OutputFile } from "./output_file.ts";
import type { RotationOptions } from "./rotation_options.ts";

const known: Readonly<Record<keyof RotationOptions, true>> = {
  directory: true,
  maxFileSize: true,
  name: true,
  overwrite: true,
  atomic: true,
};

/** Writes bytes to one file of a series after the other; the caller says where one ends, and has one call at a time. */
export class Rotation {
  readonly maxFileSize: number;
  /** The paths of the files that are complete. */
  readonly files: string[] = [];
  /** Bytes that the file of the next write has room for. */
  room: number;
  readonly #series: FileSeries;
  readonly #overwrite: boolean;
  readonly #atomic: boolean;
  #file: OutputFile | undefined = undefined;
  #path = "";
  #isAbandoned = false;

  /**
   * @param others The names of options that the caller takes beside those of a series.
   * @throws {TypeError} if an option is of the wrong type, or none.
   * @throws {RangeError} if `maxFileSize` is not a whole number above 0.
   */
  constructor(options: RotationOptions, defaultName: string, others: readonly string[] = []) {
    if (typeof options !== "object" || options === null) {
      throw new TypeError("the options must be an object with a directory and a maxFileSize");
    }
    requireKnown(options, { ...known, ...Object.fromEntries(others.map((name) => [name, true])) }, "a series of files");
    const { directory, maxFileSize, name = defaultName, overwrite = false, atomic = false } = options;
    if (!Number.isSafeInteger(maxFileSize) || maxFileSize < 1) {
      throw new RangeError(`maxFileSize must be a whole number of bytes above 0, not ${String(maxFileSize)}`);
    }
    this.maxFileSize = this.room = maxFileSize;
    this.#series = new FileSeries(filePath(directory, "directory"), name);
    this.#overwrite = overwrite;
    this.#atomic = atomic;
  }

  /** Makes the directory, and sees that no file of the series is in the way. */
  async start(): Promise<void> {
    await makeDirectory(this.#series.directory);
    if (!this.#overwrite) await this.#series.requireNone();
  }

  /** Appends bytes to the open file, or to a new one; there must be room for them. */
  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    this.#file ??= await this.#open();
    if (length > 0) await this.#file.writev(pieces).catch((error) => this.#fail("write", error));
    this.room -= length;
  }

  /** Ends the open file; the next write begins another. */
  async rotate(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.room = this.maxFileSize;
    await file.commit().catch((error) => this.#fail("complete", error));
    this.files.push(this.#path);
  }

  /** Ends the open file and the series. */
  async close(): Promise<void> {
    await this.rotate();
    if (this.#overwrite) await this.#series.removeLeftOver();
  }

  /** Lets go of the open file: it stays as it is, or goes if it is atomic. */
  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.discard();
  }

  /** The stream has failed, and tells its sink nothing more: what a write under way would open would stay open. */
  abandon(): void {
    this.#isAbandoned = true;
    this.discard().catch(() => {}); // why it is abandoned is being told already
  }

  async #open(): Promise<OutputFile> {
    if (this.#isAbandoned) throw new Error("the stream has failed");
    this.#path = this.#series.take(this.files.length + 1);
    const options = { atomic: this.#atomic, replace: this.#overwrite };
    const file = await openOutputFile(this.#path, options).catch((error) => this.#fail("create", error));
    if (!this.#isAbandoned) return file;
    await file.discard();
    throw new Error("the stream has failed");
  }

  #fail(action: string, error: unknown): never {
    throw fileFailure(action, this.#path, error);
  }
}
