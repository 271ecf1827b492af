import type { Store } from "./listening.ts";

interface DenoFile extends Disposable {
  readonly writable: WritableStream<Uint8Array>;
  write(bytes: Uint8Array): Promise<number>;
}
/** The Deno APIs used here, which the types of Node lack. */
const { Deno } = globalThis as unknown as {
  readonly Deno: {
    create(path: string): Promise<DenoFile>;
    writeFile(path: string, content: Uint8Array | ReadableStream<Uint8Array>): Promise<void>;
  };
};

/** The usual ways to store a `Request` on Deno, by name. */
export const denoStores: Readonly<Record<string, Store<Request>>> = {
  "buffered, arrayBuffer": async (request, path) =>
    await Deno.writeFile(path, new Uint8Array(await request.arrayBuffer())),
  "body.pipeTo(file.writable)": async (request, path) => await request.body!.pipeTo((await Deno.create(path)).writable),
  "Deno.writeFile(path, body)": (request, path) => Deno.writeFile(path, request.body!),
  async "for await, file.write"(request, path): Promise<void> {
    using file = await Deno.create(path);
    for await (const chunk of request.body!) await writeAll(file, chunk);
  },
  async "BYOB reader, file.write"(request, path): Promise<void> {
    using file = await Deno.create(path);
    const reader = request.body!.getReader({ mode: "byob" });
    let buffer = new ArrayBuffer(64 * 1024);
    while (true) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      await writeAll(file, value);
      buffer = value.buffer;
    }
  },
};

async function writeAll(file: DenoFile, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
}
