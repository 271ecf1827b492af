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
  if (options.atomic) {
    const file = await AtomicFile.open(path, options);
    return new WritableStream({
      write: (chunk) => file.write(chunk),
      close: () => file.commit(),
      abort: () => file.discard(),
    });
  }
  const handle = await open(path, "w", options.mode);
  return new WritableStream({
    async write(chunk): Promise<void> {
      await handle.writeFile(chunk);
    },
    close: () => handle.close(),
    abort: () => handle.close(),
  });
}
