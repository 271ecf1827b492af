import { BatchedWritableStream } from "../batch/mod.ts";
import { BATCH_SIZE, Gathered, QUEUE_SIZE } from "./gathered.ts";
import { guardedSize } from "./guarded_size.ts";
import { checkedItems, sizeOfItem } from "./items.ts";
import { Rotation } from "./rotation.ts";
import type { RotationOptions } from "./rotation_options.ts";

/**
 * Writes chunks of bytes or text to a series of files of limited size. A chunk is never split between two files, and
 * text is written as UTF-8.
 *
 * Chunks that queue up are written together. The promise of a `write()` is fulfilled when the system has the chunk's
 * bytes. A write that fails errors the stream: the file that was being written keeps what it has, unless `atomic` is
 * asked. Without any chunk there is no file.
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
  readonly #rotation: Rotation;

  /**
   * Makes a stream; it opens its first file when there is something to write.
   *
   * @param options where to write, and how; `directory` and `maxFileSize` are required.
   * @param strategy how much may wait or be in flight: by default 512 KiB, counting the bytes of chunks and the length of
   * strings.
   * @throws {TypeError} if an option is of the wrong type, or the name no plain file name.
   * @throws {RangeError} if `maxFileSize` is not a whole number above 0.
   */
  constructor(options: RotationOptions, strategy: QueuingStrategy<Uint8Array | string> = {}) {
    const rotation = new Rotation(options, "part.txt");
    const gathered = new Gathered();
    const { highWaterMark = QUEUE_SIZE, size } = strategy;
    super({
      maxBatch: BATCH_SIZE,
      start: () => rotation.start(),
      writev: (items) => writeItems(items, rotation, gathered),
      close: () => rotation.close(),
      abort: () => rotation.discard(),
    }, { highWaterMark, size: size ? guardedSize(size, () => rotation.abandon()) : sizeOfItem });
    this.#rotation = rotation;
  }

  /** The paths of the files that are complete, in order. */
  get files(): readonly string[] {
    return [...this.#rotation.files];
  }

  /** Most bytes of a file. */
  get maxFileSize(): number {
    return this.#rotation.maxFileSize;
  }

  /** Bytes that the file of the next chunk has room for, once all writes so far are acknowledged. */
  get room(): number {
    return this.#rotation.room;
  }
}

async function writeItems(items: (Uint8Array | string)[], rotation: Rotation, gathered: Gathered): Promise<void> {
  try {
    const checked = checkedItems(items, rotation.maxFileSize);
    for (let next = 0; next < checked.length; next = gathered.next) {
      gathered.fill(checked, next, rotation.room);
      await rotation.write(gathered.pieces, gathered.length);
      if (gathered.isLimited) await rotation.rotate();
    }
    gathered.clear();
  } catch (error) {
    await rotation.discard(); // a stream whose writev() failed gets no abort()
    throw error;
  }
}
