import { type BatchedUnderlyingSink, BatchedWritableStream } from "../../batch/mod.ts";
import { releaseNumberArray, schema, WRITE_PARTS } from "../../streams/internal.ts";
import { NumberFormatter } from "../../text/internal.ts";
import { highWaterMarkOf } from "../item_writer.ts";
import { requireSize } from "../write_batch.ts";
import { openSeries } from "./continued_rotation.ts";
import { rotationMembers, type RotationOptions, type RotationSchema } from "./rotation_options.ts";
import type { SeriesWriter } from "./rotation.ts";

export const numberFileWriterOptions: RotationSchema = /* @__PURE__ */ schema(
  "NumberFileWriter",
  () => rotationMembers("numbers.txt"),
);

/** Numbers that may wait or be in flight. Four times as many take 7% less time, and 15 MB more memory on Node. */
const HIGH_WATER_MARK = 16384;
/** Numbers of one batch: fewer, so that the queue fills while a batch is written. */
const MAX_BATCH = 8192;
const LINE_FEED = 10;
/** Bytes for the lines of a batch; more when it needs them. */
const FIRST_SIZE = 64 * 1024;

/**
 * Writes numbers, one a line, to a series of files of limited size.
 *
 * Producers write one number at a time; those that queue up are formatted and written together, and nothing is
 * allocated for one of them. The promise of a `write()` is fulfilled when the system has its line. Without any number
 * there is no file. A value that is no number, not finite, or beyond 2^53 - 1 in magnitude is an error before anything of
 * its batch is written.
 *
 * @example Primes, one a line
 * ```ts
 * import { NumberFileWriter } from "@millrace/streams/files";
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { basename } from "node:path";
 *
 * const files = new NumberFileWriter({ directory: "parts", maxFileSize: 6, name: "primes.txt" });
 * await ReadableStream.from([2, 3, 5, 7, 11]).pipeTo(files);
 * for (const file of files.files) console.log(basename(file)); // primes-00001.txt, primes-00002.txt
 * ```
 */
export class NumberFileWriter extends BatchedWritableStream<number> {
  readonly #rotation: SeriesWriter;

  /**
   * Makes a stream; it opens its first file when there is something to write.
   *
   * @param options where to write, and how; `directory` and `maxFileSize` are required.
   * @param strategy how many numbers may wait or be in flight: by default 16,384.
   * @throws {TypeError} if an option is of the wrong type, or the name no plain file name.
   * @throws {RangeError} if `maxFileSize` is not a whole number above 0.
   */
  constructor(options: RotationOptions, strategy: { readonly highWaterMark?: number } = {}) {
    const rotation = openSeries(numberFileWriterOptions, numberFileWriterOptions.check(options));
    const lines = new NumberLines(rotation);
    super({
      maxBatch: MAX_BATCH,
      start: (controller) => rotation.start(controller),
      [WRITE_PARTS]: (parts: number[][]) => lines.write(parts),
      close: () => rotation.close(),
      abort: () => rotation.discard(),
    } as BatchedUnderlyingSink<number>, {
      highWaterMark: highWaterMarkOf(strategy, HIGH_WATER_MARK),
    });
    this.#rotation = rotation;
  }

  /** The paths of the files that are complete, in order. */
  get files(): readonly string[] {
    return [...this.#rotation.files];
  }
}

/** Formats batches into one buffer, which is written before the next batch comes. */
class NumberLines {
  readonly #formatter = new NumberFormatter();
  readonly #rotation: SeriesWriter;
  #bytes: Uint8Array = new Uint8Array(FIRST_SIZE);

  constructor(rotation: SeriesWriter) {
    this.#rotation = rotation;
  }

  async write(parts: readonly number[][]): Promise<void> {
    const rotation = this.#rotation;
    try {
      const ends = this.#endsInFiles(this.#format(parts));
      for (let i = 0, start = 0; i < ends.length; start = ends[i++]) {
        if (i > 0) await rotation.rotate();
        if (ends[i] > start) await rotation.write([this.#bytes.subarray(start, ends[i])], ends[i] - start);
      }
    } catch (error) {
      await rotation.discard(); // a stream whose writev() failed gets no abort()
      throw error;
    }
  }

  /** Returns where the lines of all numbers end in the buffer. */
  #format(parts: readonly number[][]): number {
    let end = 0;
    for (const numbers of parts) {
      this.#formatter.format(numbers, 0, this.#bytes, end);
      while (this.#formatter.next < numbers.length) this.#resume(numbers);
      end = this.#formatter.end;
      releaseNumberArray(numbers);
    }
    return end;
  }

  #resume(numbers: readonly number[]): void {
    const { next, end } = this.#formatter;
    const bytes = new Uint8Array(2 * this.#bytes.length);
    bytes.set(this.#bytes.subarray(0, end));
    this.#bytes = bytes;
    this.#formatter.format(numbers, next, bytes, end);
  }

  /**
   * Returns where the lines of each file end, from the open file on. A line is known by its line feed, so that numbers
   * need no bookkeeping: what a file has room for ends with the last line feed in as many bytes.
   */
  #endsInFiles(length: number): number[] {
    const ends: number[] = [];
    const { maxFileSize } = this.#rotation;
    let { room } = this.#rotation;
    let start = 0;
    while (length - start > room) {
      // Without room there is nothing to look for: lastIndexOf() takes -1 for the last byte.
      const end = room === 0 ? start : Math.max(start, this.#bytes.lastIndexOf(LINE_FEED, start + room - 1) + 1);
      if (end === start && room === maxFileSize) requireSize(this.#bytes.indexOf(LINE_FEED, start) + 1 - start, room);
      ends.push(end);
      start = end;
      room = maxFileSize;
    }
    ends.push(length);
    return ends;
  }
}
