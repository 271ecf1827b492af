import { open } from "node:fs/promises";

/** Bytes of one read. */
const READ_SIZE = 256 * 1024;

/**
 * Opens a file as a ReadableStream of bytes, read as they are asked for.
 *
 * @param path The file's path.
 * @throws {Error} what the file system says, with its `code`.
 * @example
 * ```ts
 * import { openFileReadable } from "@millrace/streams/files";
 * import { fileURLToPath } from "node:url";
 *
 * const file = await openFileReadable(fileURLToPath(import.meta.url));
 * for await (const chunk of file) console.log(chunk.length);
 * ```
 */
export async function openFileReadable(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const handle = await open(path, "r");
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const buffer = new Uint8Array(READ_SIZE);
      try {
        const { bytesRead } = await handle.read(buffer, 0, READ_SIZE);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      } catch (error) {
        await handle.close();
        throw error;
      }
      await handle.close();
      controller.close();
    },
    cancel: () => handle.close(),
  }, { highWaterMark: 0 });
}
