import { BatchedWritableStream } from "../batch/mod.ts";
import { bool, drainBatches, refuseUnused, schema, type SchemaOf } from "../streams/internal.ts";
import { AppendedFile } from "./appended_file.ts";
import { atomicFileMembers, type AtomicFileOptions } from "./atomic_file.ts";
import { failing, failingNow, fileFailure } from "./failure.ts";
import { BATCH_SIZE, QUEUE_SIZE, sizeOfItem } from "./write_batch.ts";
import { FileCommand, ItemWriter } from "./item_writer.ts";
import { type FileTarget, openOutputFile, wholeFile } from "./output_file.ts";
import { filePath } from "./names.ts";
import { requireReplaceable } from "./place.ts";

/** Joins a surrogate pair that two strings share: a first half at a string's end moves to the next, as in TextEncoderStream. */
export class SurrogateJoiner {
  /** The first half of a pair; "" if there is none. */
  #half = "";

  /** Returns the chunks as they are to be written; chunks other than strings are unchanged. */
  joined(chunks: readonly unknown[]): unknown[] {
    const joined: unknown[] = [];
    for (const chunk of chunks) {
      if (chunk instanceof FileCommand) {
        joined.push(chunk);
        continue;
      }
      if (typeof chunk !== "string" && this.#half !== "") joined.push(...this.rest());
      joined.push(typeof chunk === "string" ? this.#whole(chunk) : chunk);
    }
    return joined;
  }

  /** Returns the half of a pair that no string follows; in UTF-8 it becomes U+FFFD. */
  rest(): string[] {
    const half = this.#half;
    this.#half = "";
    return half === "" ? [] : [half];
  }

  #whole(text: string): string {
    if (text === "") return "";
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = (last & 0xfc00) === 0xd800 ? whole[whole.length - 1] : "";
    return this.#half === "" ? whole : whole.slice(0, -1);
  }
}

/**
 * A file as a WritableStream of bytes and text, opened by {@linkcode openFileWritable}.
 *
 * @example A log that several processes may write to
 * ```ts
 * import { type FileWritable, openFileWritable } from "@millrace/streams/files";
 *
 * const log: FileWritable = await openFileWritable("app.log", { append: true });
 * const writer = log.getWriter();
 * void writer.write("started\n");
 * await log.flush(); // on the disk, and the stream is still open
 * await writer.close();
 * ```
 */
export class FileWritable extends BatchedWritableStream<Uint8Array | string> {
  /** The file's path. */
  readonly path: string;
  readonly #file: FileTarget | AppendedFile;
  readonly #items: ItemWriter;
  readonly #pairs: SurrogateJoiner;

  /** Takes over an open file: for {@linkcode openFileWritable}. */
  constructor(file: FileTarget) {
    const items = new ItemWriter(file);
    const pairs = new SurrogateJoiner();
    super({
      maxBatch: BATCH_SIZE,
      writev: (chunks) => items.write(pairs.joined(chunks) as string[]),
      async close(): Promise<void> {
        try {
          await items.write(pairs.rest());
          await file.commit();
        } catch (error) {
          await file.discard();
          throw fileFailure("complete", file.path, error);
        }
      },
      abort: () => file.discard(),
    }, { highWaterMark: QUEUE_SIZE, size: sizeOfItem });
    this.path = file.path;
    this.#file = file;
    this.#items = items;
    this.#pairs = pairs;
  }

  /**
   * Waits until all chunks written so far are on the disk. An `atomic` file is flushed when it is complete: then this
   * waits until the system has the chunks. The stream stays open, and may be locked.
   *
   * @throws {Error} with the reason why the file cannot be written, and the system's `code`.
   */
  flush(): Promise<void> {
    return this.#items.request(this, "flush");
  }

  /**
   * Opens the file by its name again, after all chunks written so far: for use after another program, such as
   * logrotate, has renamed it. Requires `append`.
   *
   * @throws {TypeError} if the file was not opened with `append`.
   * @throws {Error} with the reason why the file cannot be opened, and the system's `code`.
   */
  async reopen(): Promise<void> {
    this.#appended("reopen()");
    await this.#items.request(this, "reopen");
  }

  /**
   * Writes all chunks so far to the disk before it returns: for a process that is about to end, such as in a handler of
   * `process.on("exit")`. Waits for a pipe's reader for at most 2 s. Requires `append`.
   *
   * @throws {TypeError} if the file was not opened with `append`.
   * @throws {Error} with the reason why the file cannot be written, and the system's `code`; the stream then fails, too.
   */
  flushSync(): void {
    this.#items.flushNow(() => this.#pairs.joined(drainBatches(this)), this.#appended("flushSync()"));
  }

  #appended(method: string): AppendedFile {
    if (this.#file instanceof AppendedFile) return this.#file;
    throw new TypeError(`${method} needs append: true: it is for files that go on`);
  }
}

/**
 * Options of {@linkcode openFileWritable}.
 *
 * @example A file that replaces nothing, and is on the disk when the pipe ends
 * ```ts
 * import { openFileWritable, type OpenFileWritableOptions } from "@millrace/streams/files";
 *
 * const options: OpenFileWritableOptions = { replace: false, flush: true };
 * await new Blob(["signed"]).stream().pipeTo(await openFileWritable("contract.txt", options));
 * ```
 */
export interface OpenFileWritableOptions extends AtomicFileOptions {
  /**
   * Whether the file gets its name only when it is complete; an aborted stream then leaves no file.
   *
   * @default false
   */
  atomic?: boolean;
  /**
   * Whether the file's bytes are flushed to the disk when the stream closes.
   *
   * @default the value of `atomic`
   */
  flush?: boolean;
  /**
   * The permission bits of the file. Without `atomic`, they apply only to a new file, reduced by the process's umask.
   *
   * @default those of new files of the process
   */
  mode?: number;
  /**
   * Whether a symbolic link at the path is followed; otherwise an `atomic` file replaces the link itself, and any other
   * file fails with the code `ELOOP`. On Windows, only an `atomic` file does not follow it.
   *
   * @default true
   */
  followLinks?: boolean;
  /**
   * Whether chunks are appended to the file, by the system's append mode: other processes may append, too. A missing
   * file is created. Excludes `atomic` and `replace`.
   *
   * @default false
   */
  append?: boolean;
}

export const openFileWritableOptions: SchemaOf<
  OpenFileWritableOptions,
  "followLinks" | "replace" | "atOnce" | "atomic" | "append"
> = /* @__PURE__ */ schema("openFileWritable()", () => ({
  ...atomicFileMembers(),
  flush: bool(),
  atomic: bool(false),
  append: bool(false),
}));

/**
 * Opens a file as a WritableStream of bytes and text, and overwrites an existing file; text is written as UTF-8. Queued
 * chunks are written together, and the promise of a `write()` fulfils when the system has the chunk's bytes. Half of a
 * surrogate pair at the end of a string waits for the next string.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} with the file's name, the reason why it cannot be created, and the system's `code`; writes and
 * closing reject in the same way.
 * @throws {TypeError} if the path or an option is invalid, or options exclude each other.
 * @example Text, line by line
 * ```ts
 * import { openFileWritable } from "@millrace/streams/files";
 *
 * const writer = (await openFileWritable("notes.txt", { atomic: true })).getWriter();
 * for (const line of ["first", "second"]) void writer.write(`${line}\n`);
 * await writer.close(); // notes.txt is there now, and complete
 * ```
 */
export async function openFileWritable(
  path: string | URL,
  options: OpenFileWritableOptions = {},
): Promise<FileWritable> {
  const given = openFileWritableOptions.check(options);
  const { append, ...others } = openFileWritableOptions(given);
  const named = filePath(path);
  failingNow(append ? "open" : "create", named, () => requireReplaceable({ path: named, status: undefined }));
  if (append) {
    const defaults = openFileWritableOptions();
    refuseUnused(given, ["atomic", "replace", "temporary"], "and append exclude each other: choose one", defaults);
    return new FileWritable(await AppendedFile.open(named, others));
  }
  if (!others.atomic) refuseUnused(given, ["temporary"], "needs atomic: true: other files are written in place");
  const file = await openOutputFile(named, others).catch(failing("create", named));
  return new FileWritable(wholeFile(named, file));
}
