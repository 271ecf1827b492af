/** The report that {@linkcode loadAll} prints. */
export interface Loaded {
  /** The names that each subpath exports. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** Class names of `./streams` that are not those they are exported under. */
  readonly renamed: readonly string[];
  /** Bytes after compressing 8000 bytes and back, by format. */
  readonly roundTrips: Readonly<Record<string, number>>;
}

/** Returns a module that imports all subpaths, uses the codecs, and prints a report. */
export function loadAll(subpaths: readonly string[]): string {
  return `
    const names = {};
    for (const subpath of ${JSON.stringify(subpaths)}) {
      names[subpath] = Object.keys(await import("@millrace/streams" + subpath.slice(1)));
    }
    const streams = await import("@millrace/streams/streams");
    const renamed = names["./streams"].filter((name) => streams[name].prototype && streams[name].name !== name);
    const { compress, decompress } = await import("@millrace/streams");
    const bytes = new TextEncoder().encode("round and round ".repeat(500));
    const roundTrips = {};
    for (const format of ["zstd", "brotli", "gzip"]) {
      roundTrips[format] = (await decompress(await compress(bytes, { format }), { format })).length;
    }
    console.log(JSON.stringify({ names, renamed, roundTrips }));`;
}

/** A CommonJS module that takes the package, which is ESM, by `require()`. */
export const requires = `
  const { ReadableStream, compressSync, ready } = require("@millrace/streams");
  const { LineStream } = require("@millrace/streams/text");
  const { createStaticHandler } = require("@millrace/streams/static");
  ready().then(async () => {
    const lines = [];
    for await (const line of ReadableStream.from([new TextEncoder().encode("a\\nb")]).pipeThrough(new LineStream())) lines.push(line);
    console.log(lines.join(), compressSync(new Uint8Array(9), { format: "gzip" }).length > 0, typeof createStaticHandler);
  });`;

/** A strict TypeScript module in a browser's project: nothing of Node, no `@types`. */
export const browserTypes = `
  import { compress, CompressionStream, type Format } from "@millrace/streams";
  import { BatchedWritableStream, coalesceBytes } from "@millrace/streams/batch";
  import { decompress } from "@millrace/streams/codecs";
  import { LineToNumberStream } from "@millrace/streams/text";
  import * as streams from "@millrace/streams/streams";
  // callbacks typed by our classes, by the platform's, and by inference
  const source: UnderlyingDefaultSource<string> = { start: (controller) => controller.enqueue("one") };
  export const platform: ReadableStream<string> = new streams.ReadableStream<string>(source);
  export const own = new streams.ReadableStream<string>({
    pull(controller: streams.ReadableStreamDefaultController<string>) { controller.close(); },
  });
  export const bytesOnly = new streams.ReadableStream({ type: "bytes", pull: ({ byobRequest }) => byobRequest?.respond(1) });
  export const lengths = own.pipeThrough(
    new streams.TransformStream<string, number>({ transform: (text, controller) => controller.enqueue(text.length) }),
  );
  // @ts-expect-error: no numbers here
  new streams.ReadableStream<string>({ pull: (controller) => controller.enqueue(1) });
  const format: Format = "zstd";
  export const bytes: Promise<Uint8Array<ArrayBuffer>> = compress(new Uint8Array(3), { format, level: 3 });
  export const back: Promise<Uint8Array<ArrayBuffer>> = bytes.then((compressed) => decompress(compressed, { format }));
  export const stream: ReadableStream = new CompressionStream("brotli", { level: 5 }).readable;
  export const batched = new BatchedWritableStream<number>({ writev: (batch) => void batch.map((n) => n.toFixed()) });
  export const joined: ReadableStream<Uint8Array<ArrayBuffer>> = streams.ReadableStream.from([new Uint8Array(1)])
    .pipeThrough(coalesceBytes({ size: 4096 }));
  export const numbers: ReadableStream<number> = new LineToNumberStream().readable;
  void numbers.pipeTo(batched, { preventClose: true });
  // @ts-expect-error: no such format
  export const wrong: Format = "lzma";`;

/** A strict TypeScript module of streams alone, for any library that has the types of streams. */
export const streamTypes = `
  import { CompressionStream } from "@millrace/streams";
  import { BatchedWritableStream, readBatches } from "@millrace/streams/batch";
  import * as gzip from "@millrace/streams/codecs/gzip";
  import encoder from "@millrace/streams/codecs/gzip_encoder.wasm";
  import { LineToNumberStream } from "@millrace/streams/text";
  import * as streams from "@millrace/streams/streams";
  export const upper = (text: streams.ReadableStream<string>): streams.ReadableStream<number> =>
    text.pipeThrough(new streams.TransformStream<string, number>());
  export const upperToo = (text: streams.ReadableStream<string>): streams.ReadableStream<number> =>
    streams.pipeThrough(text, new streams.TransformStream<string, number>());
  export const zipped: streams.ReadableStream<Uint8Array> = streams.ReadableStream.from([new Uint8Array(1)])
    .pipeThrough(new CompressionStream("gzip"));
  export const raw: ReadableStream<Uint8Array> = streams.ReadableStream.from([new Uint8Array(1)])
    .pipeThrough(new gzip.CompressionStream("deflate-raw", { level: 3 }));
  gzip.provide(encoder);
  // @ts-expect-error: another entry's
  new gzip.DecompressionStream("zstd");
  export async function sumOfLines(): Promise<number> {
    let sum = 0;
    for await (const n of streams.ReadableStream.from([new Uint8Array(1)]).pipeThrough(new LineToNumberStream())) sum += n;
    for await (const n of streams.ReadableStream.from([1]).tee()[0]) sum += n;
    for await (const n of streams.ReadableStream.from([1]).values({ preventCancel: true })) sum += n;
    for await (const batch of readBatches(streams.ReadableStream.from([1]))) sum += batch[0];
    return sum;
  }
  // @ts-expect-error: no numbers go through
  streams.ReadableStream.from([1]).pipeThrough(new streams.TransformStream<string, number>());
  // @ts-expect-error: the chunks are strings
  export const misread: streams.ReadableStream<number> = streams.ReadableStream.from(["a"]).pipeThrough(new streams.TransformStream<string, string>());
  export async function first<R>(stream: streams.ReadableStream<R>): Promise<R | undefined> {
    const { done, value } = await stream.getReader().read();
    if (done) return undefined;
    const chunk: R = value;
    return chunk;
  }
  export const text: Promise<string | undefined> = first(streams.ReadableStream.from(["a"]));
  declare function chunksOf<R>(stream: ReadableStream<R>): R[];
  export const inferred: string[] = chunksOf(streams.ReadableStream.from(["a"]));
  export async function filled(reader: streams.ReadableStreamBYOBReader): Promise<Uint8Array | undefined> {
    const { done, value } = await reader.read(new Uint8Array(1));
    // @ts-expect-error: a stream that was cancelled returns no view
    if (done) value.length;
    return value;
  }
  // @ts-expect-error: a read of strings returns no number
  export const unread: Promise<{ value?: number }> = streams.ReadableStream.from(["a"]).getReader().read();
  // @ts-expect-error: indexes alone are the protocol of former versions
  new BatchedWritableStream<number>({ writev: () => [0] });`;

/** A strict TypeScript module on a server, with the types of Node. */
export const serverTypes = `
  import { createServer } from "node:http";
  import { compress, pipeTo, ReadableStream, WritableStream } from "@millrace/streams";
  import { type AtomicFileOptions, openFileReadable, RotatingFileWritable } from "@millrace/streams/files";
  import { HttpClient, HttpError } from "@millrace/streams/http";
  import { uninstall } from "@millrace/streams/install";
  import { fromNodeReadable, fromNodeWritable } from "@millrace/streams/node";
  import { precompress } from "@millrace/streams/precompress";
  import { createStaticHandler } from "@millrace/streams/static";
  import { createUploadHandler, saveBody, UploadError } from "@millrace/streams/upload";
  const site = await createStaticHandler("dist", { fallback: "index.html" });
  const uploads = createUploadHandler({ directory: "uploads", maxBytes: 2e9 });
  createServer(site.node);
  createServer(async (request, response) => {
    if (request.method === "PUT") return void uploads.node(request, response);
    await fromNodeReadable(request).pipeTo(new RotatingFileWritable({ directory: "parts", maxFileSize: 1e6 }));
    await pipeTo(ReadableStream.from(["page"]), fromNodeWritable<string>(response));
  });
  export const answer: Promise<Response> = Promise.resolve(site.fetch(new Request("http://localhost/")));
  export const client = new HttpClient({ connections: 1 });
  export const fetched: Promise<Response> = client.fetch("https://example.com/").catch((error) => {
    throw error instanceof HttpError ? new TypeError(error.code) : error;
  });
  export const options: AtomicFileOptions = { flush: false };
  export const saved = await saveBody(new Request("http://localhost/"), await openAs("copy")).catch((error: unknown) => {
    if (error instanceof UploadError) return { bytes: error.status };
    throw error;
  });
  async function openAs(path: string): Promise<string> {
    await (await openFileReadable(path)).cancel();
    return path;
  }
  export const problems: readonly { path: string; message: string }[] = (await precompress("dist", {})).problems;
  uninstall();
  // What a name unknown to the compiler would make any.
  // @ts-expect-error: a chunk is a string
  export const chunk: number | undefined = (await ReadableStream.from(["a"]).getReader().read()).value;
  // @ts-expect-error: no such option
  void ReadableStream.from(["a"]).pipeTo(new WritableStream(), { preventEnd: true });
  // @ts-expect-error: no text
  void compress("text", { format: "gzip" });
  // @ts-expect-error: a number of connections
  new HttpClient({ connections: "many" });`;

/** A module with names that have definitions in the package. */
export const definitions =
  `import { BatchedWritableStream, compress, LineStream, ReadableStream } from "@millrace/streams";
import { createStaticHandler } from "@millrace/streams/static";

export const writable: unknown = new LineStream({ allowCR: true }).writable;
export const reader: unknown = new ReadableStream().getReader();
export const others: unknown = [compress, BatchedWritableStream, createStaticHandler];
`;

/** Prints stacks of errors that two parts throw: one whose sources the npm package holds, and one whose sources it lacks. */
export const stacks = `import { LineStream } from "@millrace/streams";
import { createStaticHandler } from "@millrace/streams/static";

await Promise.try(() => new LineStream({ size: 1 })).catch((error) => console.log(error.stack));
await createStaticHandler(".", { size: 1 }).catch((error) => console.log(error.stack));
`;
