import { BatchedWritableStream } from "../../batch/mod.ts";
import { BATCH_SIZE, QUEUE_SIZE, sizeOfItem } from "../write_batch.ts";
import { highWaterMarkOf, ItemWriter } from "../item_writer.ts";
import { drainBatches, schema } from "../../streams/internal.ts";
import { ContinuedRotation, type SeriesWriter } from "./continued_rotation.ts";
import { rotationMembers, type RotationOptions, type RotationSchema } from "./rotation_options.ts";
import { openSeries } from "./rotation.ts";

export const rotatingFileOptions: RotationSchema = /* @__PURE__ */ schema(
  "RotatingFileWritable",
  () => rotationMembers("part.txt"),
);

/** The series by stream. Not in a static block of the class, which would keep it in every bundle. */
const continued: WeakMap<RotatingFileWritable, ContinuedRotation> = /* @__PURE__ */ new WeakMap();

/** Returns the series of a stream with `append`. */
export function continuedBy(stream: RotatingFileWritable): ContinuedRotation {
  return continued.get(stream)!;
}

/**
 * Writes chunks of bytes or text to a series of files of limited size; text is written as UTF-8. A chunk is not split
 * between files, unless it is larger than a file: then it is split after lines, and a line that is larger than a file
 * is refused, or split with `append`.
 *
 * Queued chunks are written together. The promise of a `write()` fulfils when the system has the chunk's bytes. A
 * failed write errors the stream: the current file keeps its bytes, unless `atomic` is set. Without any chunk, no file
 * is created.
 *
 * With `append`, the series continues after an earlier stream. For logs, it can be rotated by time, limited in number,
 * size and age, and compressed.
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
   * Creates a stream, which opens its first file for the first batch.
   *
   * @param options the options of the series; `directory` and `maxFileSize` are required.
   * @param strategy the maximum of queued and in-flight data, in bytes of chunks and lengths of strings: by default 512
   * KiB.
   * @throws {TypeError} if an option is of the wrong type, the name is not a plain file name, or options exclude each
   * other.
   * @throws {RangeError} if a size, a count or a time is out of range, such as a `maxFileSize` that is not a whole
   * number above 0.
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
    if (series instanceof ContinuedRotation) continued.set(this, series);
  }

  /** The paths of the complete files, in order; with `append` including those of earlier streams. */
  get files(): readonly string[] {
    return [...this.#series.files];
  }

  /** The maximum size of a file, in bytes. */
  get maxFileSize(): number {
    return this.#series.maxFileSize;
  }

  /** The room in bytes of the next chunk's file, once all writes so far are acknowledged. */
  get room(): number {
    return this.#series.room;
  }

  /**
   * Waits until all chunks written so far are on the disk. The stream stays open, and may be locked.
   *
   * @throws {Error} with the reason why the file cannot be written, and the system's `code`.
   */
  flush(): Promise<void> {
    return this.#items.request(this, "flush");
  }

  /**
   * Ends the current file after all chunks written so far; the next chunk begins another one. Call it after another
   * program has renamed the file.
   *
   * @throws {Error} with the reason why the file cannot be completed, and the system's `code`.
   */
  rotate(): Promise<void> {
    return this.#items.request(this, "rotate");
  }

  /**
   * Writes all chunks so far to the disk before it returns: for a process that is about to end, such as in a handler of
   * `process.on("exit")`. Requires `append`.
   *
   * @throws {TypeError} if the stream was created without `append`.
   * @throws {Error} with the reason why the file cannot be written, and the system's `code`; the stream then fails,
   * too.
   */
  flushSync(): void {
    const series = this.#series;
    const needs = "flushSync() needs append: true: it is for a series that goes on";
    if (!(series instanceof ContinuedRotation)) throw new TypeError(needs);
    this.#items.flushNow(() => drainBatches(this), series);
  }
}
