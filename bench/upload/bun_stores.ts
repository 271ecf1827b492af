import type { Store } from "./listening.ts";

interface FileSink {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  end(): number | Promise<number>;
}
/** The Bun APIs used here, which the types of Node lack. */
const { Bun } = globalThis as unknown as {
  readonly Bun: {
    write(path: string, content: ArrayBuffer | Request | Response): Promise<number>;
    file(path: string): { writer(): FileSink };
  };
};

/** The usual ways to store a `Request` on Bun, by name. */
export const bunStores: Readonly<Record<string, Store<Request>>> = {
  "buffered, arrayBuffer": async (request, path) => await Bun.write(path, await request.arrayBuffer()),
  "Bun.write(path, new Response(body))": (request, path) => Bun.write(path, new Response(request.body)),
  "Bun.write(path, request)": (request, path) => Bun.write(path, request),
  async "for await, FileSink"(request, path): Promise<void> {
    const sink = Bun.file(path).writer();
    for await (const chunk of request.body!) {
      await sink.write(chunk);
      await sink.flush();
    }
    await sink.end();
  },
  async "body.pipeTo, FileSink"(request, path): Promise<void> {
    const sink = Bun.file(path).writer();
    const write = async (chunk: Uint8Array): Promise<void> => {
      await sink.write(chunk);
      await sink.flush();
    };
    await request.body!.pipeTo(new WritableStream({ write, close: async () => void await sink.end() }));
  },
};
