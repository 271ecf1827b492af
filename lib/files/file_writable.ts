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

/**
 * Writes a character that two strings share as one: half of a surrogate pair at the end of a string goes to
 * the next one, as in a TextEncoderStream.
 */
export class SurrogateJoiner {
  /** The first half of a pair; "" if there is none. */
  #half = "";

  /** The chunks as they are to be written; what is no string is left as it is. */
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

  /** The half of a pair that is left where no string follows; it becomes U+FFFD in UTF-8. */
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
 * A file as a WritableStream of bytes and text, made by {@linkcode openFileWritable}.
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

  /** Takes over a file that is open: for {@linkcode openFileWritable}. */
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
   * Waits until everything that was written so far is on the disk; of an `atomic` file, which is flushed when it is
   * complete, until the system has it. The stream stays open, and may be locked.
   *
   * @throws {Error} why it cannot be written, with the system's `code`.
   */
  flush(): Promise<void> {
    return this.#items.request(this, "flush");
  }

  /**
   * Opens the file by its name again, behind everything that was written so far: for when another program, such as
   * logrotate, has renamed it. Needs `append`.
   *
   * @throws {TypeError} if the file was not opened with `append`.
   * @throws {Error} why it cannot be opened, with the system's `code`.
   */
  async reopen(): Promise<void> {
    this.#appended("reopen()");
    await this.#items.request(this, "reopen");
  }

  /**
   * Writes everything that was written so far to the disk before it returns: for a process that is about to end, as in a
   * handler of `process.on("exit")`. Waits for a write that is under way, and for a pipe's reader to take more, for 2 s at
   * most. Needs `append`.
   *
   * @throws {TypeError} if the file was not opened with `append`.
   * @throws {Error} why it cannot be written, with the system's `code`, or that others hide how much is; the stream then fails, too.
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
   * Whether the file appears under its name only when it is complete; an aborted stream leaves nothing then.
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
   * The permission bits to give the file; unless it is `atomic`, only to one that is made, and less the process's
   * umask.
   *
   * @default what the process gives new files
   */
  mode?: number;
  /**
   * Whether a symbolic link at the path is followed; if not, the link itself is replaced by an `atomic` file, and refuses
   * any other with the code `ELOOP`. On Windows only an `atomic` file does not follow it.
   *
   * @default true
   */
  followLinks?: boolean;
  /**
   * Whether the file goes on behind what is in it, as the system's own way of appending has it: other processes may write
   * to its end, too. A file that is missing is made. Not with `atomic` or `replace`.
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
 * Opens a file as a WritableStream of bytes and text, in place of what was there; text is written as UTF-8. Chunks that
 * queue up are written together, and the promise of a `write()` is fulfilled when the system has the chunk's bytes; half
 * of a surrogate pair at the end of a string waits for the next one.
 *
 * @param path The file's path, or its `file:` URL.
 * @throws {Error} that names the file and says why it cannot be made, with the system's `code`; so do writes and closing
 * if they fail.
 * @throws {TypeError} if the path or an option is none, or options exclude each other.
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
