import { BatchedWritableStream } from "../../batch/mod.ts";
import { BATCH_SIZE, QUEUE_SIZE, sizeOfItem } from "../write_batch.ts";
import { highWaterMarkOf, ItemWriter } from "../item_writer.ts";
import { drainBatches, schema } from "../../streams/internal.ts";
import { ContinuedRotation, openSeries } from "./continued_rotation.ts";
import { rotationMembers, type RotationOptions, type RotationSchema } from "./rotation_options.ts";
import type { SeriesWriter } from "./rotation.ts";
import type { SeriesAttempts } from "./series_attempts.ts";

export const rotatingFileOptions: RotationSchema = /* @__PURE__ */ schema(
  "RotatingFileWritable",
  () => rotationMembers("part.txt"),
);

/** The attempts by stream, outside of a static block of the class, which would keep it in every bundle. */
const attempts: WeakMap<RotatingFileWritable, SeriesAttempts> = /* @__PURE__ */ new WeakMap();

/** Returns the attempts of a stream with `append` to write. */
export function attemptsOf(stream: RotatingFileWritable): SeriesAttempts {
  return attempts.get(stream)!;
}

/**
 * Writes chunks of bytes or text to a series of files of limited size; text is written as UTF-8. A chunk goes into one
 * file. A larger one is split behind its lines, and a line that is larger than a file is refused, or cut with `append`.
 *
 * Chunks that queue up are written together. The promise of a `write()` is fulfilled when the system has the chunk's
 * bytes. A write that fails errors the stream: the file that was being written keeps what it has, unless `atomic` is
 * set. Without any chunk there is no file.
 *
 * With `append` the series goes on where an earlier stream has stopped. It can be rotated by time, limited in number,
 * size and age, and compressed, as logs need.
 *
 * @example Three lines, of which no two fit one file
 * ```ts
 * import { RotatingFileWritable } from "@millrace/streams/files";
 *
 * const log = new RotatingFileWritable({ directory: "logs", maxFileSize: 10, name: "log.txt" });
 * const writer = log.getWriter();
 * for (const line of ["first\n", "second\n", "3rd 12\n"]) void writer.write(line);
 * await writer.close();
 * console.log(log.files.length); // 3
 * ```
 */
export class RotatingFileWritable extends BatchedWritableStream<Uint8Array | string> {
  readonly #series: SeriesWriter | ContinuedRotation;
  readonly #items: ItemWriter;

  /**
   * Makes a stream; it opens its first file when there is something to write.
   *
   * @param options where to write, and how; `directory` and `maxFileSize` are required.
   * @param strategy how much may wait or be in flight, in bytes of chunks and lengths of strings: by default 512 KiB.
   * @throws {TypeError} if an option is of the wrong type, the name no plain file name, or options exclude each other.
   * @throws {RangeError} if a size, a count or a time is none, as `maxFileSize` if it is not a whole number above 0.
   */
  constructor(options: RotationOptions, strategy: { readonly highWaterMark?: number } = {}) {
    const series = openSeries(rotatingFileOptions, rotatingFileOptions.check(options));
    const items = new ItemWriter(series);
    super({
      maxBatch: BATCH_SIZE,
      start: (controller) => series.start(controller),
      writev: (chunks) => items.write(chunks),
      close: () => series.close(),
      abort: () => series.discard(),
    }, { highWaterMark: highWaterMarkOf(strategy, QUEUE_SIZE), size: sizeOfItem });
    this.#series = series;
    this.#items = items;
    if (series instanceof ContinuedRotation) attempts.set(this, series.attempts);
  }

  /** The paths of the files that are complete, in order; with `append` those of earlier streams among them. */
  get files(): readonly string[] {
    return [...this.#series.files];
  }

  /** The maximum size of a file, in bytes. */
  get maxFileSize(): number {
    return this.#series.maxFileSize;
  }

  /** Bytes that the file of the next chunk has room for, once all writes so far are acknowledged. */
  get room(): number {
    return this.#series.room;
  }

  /**
   * Waits until everything that was written so far is on the disk. The stream stays open, and may be locked.
   *
   * @throws {Error} why it cannot be written, with the system's `code`.
   */
  flush(): Promise<void> {
    return this.#items.request(this, "flush");
  }

  /**
   * Ends the file that is being written, behind everything that was written so far; the next chunk begins another one,
   * as it should where another program has renamed the file.
   *
   * @throws {Error} why the file cannot be completed, with the system's `code`.
   */
  rotate(): Promise<void> {
    return this.#items.request(this, "rotate");
  }

  /**
   * Writes everything that was written so far to the disk before it returns: for a process that is about to end, as in a
   * handler of `process.on("exit")`. Waits for a write that is under way, for 2 s at most. Needs `append`.
   *
   * @throws {TypeError} if the series does not go on.
   * @throws {Error} why it cannot be written, with the system's `code`; the stream then fails, too.
   */
  flushSync(): void {
    const series = this.#series;
    const needs = "flushSync() needs append: true: it is for a series that goes on";
    if (!(series instanceof ContinuedRotation)) throw new TypeError(needs);
    this.#items.flushNow(() => drainBatches(this), series);
  }
}
