import { drainBatches, writePastLock } from "../streams/internal.ts";
import { BatchedWritableStream } from "../batch/mod.ts";
import { AppendedFile } from "./appended_file.ts";
import { fileFailure } from "./failure.ts";
import { FileCommand } from "./file_command.ts";
import { BATCH_SIZE, QUEUE_SIZE } from "./gathered.ts";
import type { FileTarget } from "./file_target.ts";
import { ItemWriter } from "./item_writer.ts";
import { sizeOfItem } from "./items.ts";
import { PairJoiner } from "./pair_joiner.ts";

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
  readonly #pairs: PairJoiner;

  /** Takes over a file that is open: for {@linkcode openFileWritable}. */
  constructor(file: FileTarget) {
    const items = new ItemWriter(file);
    const pairs = new PairJoiner();
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
    return this.#request("flush");
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
    await this.#request("reopen");
  }

  /**
   * Writes everything that was written so far to the disk before it returns: for a process that is about to end, as in a
   * handler of `process.on("exit")`. Waits for a write that is under way, for 2 s at most. Needs `append`.
   *
   * @throws {TypeError} if the file was not opened with `append`.
   * @throws {Error} why it cannot be written, with the system's `code`; the stream then fails, too.
   */
  flushSync(): void {
    const file = this.#appended("flushSync()");
    file.settleNow();
    this.#items.writeNow(this.#pairs.joined(drainBatches(this)), file);
    file.flushNow();
  }

  #request(kind: FileCommand["kind"]): Promise<void> {
    this.#items.expectCommand();
    return writePastLock(this, new FileCommand(kind));
  }

  #appended(method: string): AppendedFile {
    if (this.#file instanceof AppendedFile) return this.#file;
    throw new TypeError(`${method} needs append: true: it is for files that go on`);
  }
}
