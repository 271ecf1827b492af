import { requireKnown } from "../streams/internal.ts";
import { BatchedWritableStream } from "../batch/mod.ts";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { fileFailure } from "./failure.ts";
import { filePath } from "./file_path.ts";
import { BATCH_SIZE, Gathered, QUEUE_SIZE } from "./gathered.ts";
import { checkedItems, sizeOfItem } from "./items.ts";
import { openOutputFile, type OutputFile } from "./output_file.ts";
import { PairJoiner } from "./pair_joiner.ts";

/**
 * Options of {@linkcode openFileWritable}.
 *
 * @example A file that replaces nothing, and is on the disk when the pipe ends
 * ```ts
 * import { openFileWritable, type OpenFileWritableOptions } from "@millrace/streams/files";
 *
 * const options: OpenFileWritableOptions = { replace: false, flush: true };
 * await new Blob(["signed"]).stream().pipeTo(await openFileWritable("contract.txt", options));
 * const again = await openFileWritable("contract.txt", options).catch((error) => error.code);
 * console.log(again); // EEXIST
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
   * The permission bits to give the file; unless it is `atomic`, only to one that is made, and less the process's umask.
   * Default: what the process gives new files.
   */
  mode?: number;
}

const known: Readonly<Record<keyof OpenFileWritableOptions, true>> = {
  atomic: true,
  replace: true,
  flush: true,
  mode: true,
  mtimeMs: true,
  followLinks: true,
  temporary: true,
  atOnce: true,
};

/**
 * Opens a file as a WritableStream of bytes and text, in place of what was there; text is written as UTF-8. Chunks that
 * queue up are written together, and the promise of a `write()` is fulfilled when the system has the chunk's bytes; half
 * of a surrogate pair at the end of a string waits for the next one.
 *
 * @param path The file's path, or its `file:` URL.
 * @param options.atomic Whether the file appears under its name only when the stream closes. Default: false.
 * @throws {Error} that names the file and says why it cannot be made, with the system's `code`; so do writes and closing
 * if they fail.
 * @throws {TypeError} if the path or an option is none.
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
): Promise<BatchedWritableStream<Uint8Array | string>> {
  requireKnown(options, known, "openFileWritable()");
  const named = filePath(path);
  const file = await openOutputFile(named, options).catch((error) => {
    throw fileFailure("create", named, error);
  });
  const gathered = new Gathered();
  const pairs = new PairJoiner();
  return new BatchedWritableStream<Uint8Array | string>({
    maxBatch: BATCH_SIZE,
    async writev(chunks): Promise<void> {
      try {
        await writeChunks(checkedItems(pairs.joined(chunks), Infinity), file, gathered, named);
      } catch (error) {
        await file.discard(); // a stream whose writev() failed gets no abort()
        throw error;
      }
    },
    async close(): Promise<void> {
      try {
        await writeChunks(pairs.rest(), file, gathered, named);
        await file.commit();
      } catch (error) {
        await file.discard();
        throw fileFailure("complete", named, error);
      }
    },
    abort: () => file.discard(),
  }, { highWaterMark: QUEUE_SIZE, size: sizeOfItem });
}

async function writeChunks(
  chunks: readonly (Uint8Array | string)[],
  file: OutputFile,
  gathered: Gathered,
  path: string,
): Promise<void> {
  for (let next = 0; next < chunks.length; next = gathered.next) {
    gathered.fill(chunks, next, Infinity);
    if (gathered.length === 0) continue;
    await file.writev(gathered.pieces).catch((error) => {
      throw fileFailure("write", path, error);
    });
  }
  gathered.clear();
}
