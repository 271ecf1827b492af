import { open } from "node:fs/promises";

/** Opens a file as a stream of the runtime's own class, by `node:fs`, read `readSize` bytes at a time. */
export async function openNativeReadable(
  path: string,
  readSize: number,
): Promise<globalThis.ReadableStream<Uint8Array<ArrayBuffer>>> {
  const handle = await open(path, "r");
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const { bytesRead, buffer } = await handle.read(new Uint8Array(readSize));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await handle.close();
      controller.close();
    },
  });
}
