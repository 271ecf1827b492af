import { open } from "node:fs/promises";
import { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";

/** Options of {@linkcode openFileWritable}. */
export interface OpenFileWritableOptions extends AtomicFileOptions {
  /**
   * Whether the file appears under its name only when it is complete; an aborted stream leaves nothing then.
   *
   * @default false
   */
  atomic?: boolean;
}

/**
 * Opens a file as a WritableStream of bytes, in place of what was there.
 *
 * @param path The file's path.
 * @param options.atomic Whether the file appears under its name only when the stream closes. Default: false.
 * @throws {Error} what the file system says, with its `code`.
 * @example
 * ```ts
 * import { openFileWritable } from "@millrace/streams/files";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 *
 * const file = await openFileWritable(join(tmpdir(), "millrace-example.txt"), { atomic: true });
 * await new Blob(["line by line\n"]).stream().pipeTo(file);
 * ```
 */
export async function openFileWritable(
  path: string,
  options: OpenFileWritableOptions = {},
): Promise<WritableStream<Uint8Array>> {
  return options.atomic ? await openAtomic(path, options) : await openInPlace(path, options);
}

async function openAtomic(path: string, options: AtomicFileOptions): Promise<WritableStream<Uint8Array>> {
  const file = await AtomicFile.open(path, options);
  return new WritableStream({
    async write(chunk): Promise<void> {
      try {
        await file.write(chunk);
      } catch (error) {
        await file.discard(); // a stream whose write() failed gets no abort()
        throw error;
      }
    },
    close: () => file.commit(),
    abort: () => file.discard(),
  });
}

async function openInPlace(path: string, { mode, mtimeMs }: AtomicFileOptions): Promise<WritableStream<Uint8Array>> {
  const handle = await open(path, "w", mode);
  return new WritableStream({
    async write(chunk): Promise<void> {
      try {
        await handle.writeFile(chunk);
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    async close(): Promise<void> {
      if (mtimeMs !== undefined) await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
      await handle.close();
    },
    abort: () => handle.close(),
  });
}
