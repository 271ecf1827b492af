import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  addAbortSignal,
  compose,
  Duplex,
  finished,
  isErrored,
  isReadable,
  PassThrough,
  pipeline,
  Readable,
  Writable,
} from "node:stream";
import * as nodeStream from "node:stream";
import * as consumers from "node:stream/consumers";
import { inspect } from "node:util";
import { native, outcome, outcomeFromOutside, type Places } from "./cells.ts";

import { plain } from "./readable_places.ts";
import { decode, type Pair } from "./transforms.ts";
import { letters, seen, type Watched } from "./writables.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Bytes>;
type NodeReadable = Parameters<typeof Readable.fromWeb>[0];

// @types/node has it as a member of Readable alone
const { isDisturbed } = nodeStream as unknown as { isDisturbed(stream: unknown): boolean };
const asNode = (stream: Stream): NodeReadable => stream as unknown as NodeReadable;

/** Runs a pipeline with a collector of text at its end. */
const collected = (run: (out: PassThrough, done: (error?: unknown) => void) => void): Promise<unknown> =>
  outcome(() =>
    new Promise((resolve, reject) => {
      const out = new PassThrough();
      let text = "";
      out.on("data", (chunk) => text += chunk).on("error", () => {});
      run(out, (error) => error ? reject(error) : setImmediate(() => resolve(text)));
    })
  );

/** `node:stream` and `node:util`. */
export const nodeModules: Places<Stream> = {
  "consumers.text()": (stream) => () => outcome(() => consumers.text(asNode(stream))),
  "Readable.fromWeb()": (stream) => () => outcome(() => consumers.text(Readable.fromWeb(asNode(stream)))),
  "Readable.from()": (stream) => () => outcome(async () => (await Readable.from(stream).toArray()).join()),
  "Duplex.from()": (stream) => () => collected((out, done) => pipeline(Duplex.from(stream as never), out, done)),
  "pipeline() into a node stream": (stream) => () => collected((out, done) => pipeline(asNode(stream), out, done)),
  "pipeline() into a native WritableStream": (stream) => () => {
    let text = "";
    const write = (chunk: Bytes): void => void (text += new TextDecoder().decode(chunk));
    const sink = new native.WritableStream({ write });
    return outcome(() =>
      new Promise((resolve) => pipeline(asNode(stream), sink as never, (error) => resolve([error?.name, text])))
    );
  },
  "finished()": (stream) => () =>
    outcome(() => new Promise((resolve) => finished(stream as never, (error) => resolve(error?.name)))),
  "isDisturbed() and the like": (stream) => () => [
    isDisturbed(stream),
    isErrored(stream as never),
    isReadable(stream as never),
  ],
  "inspect()": (stream) => () => inspect(stream, { depth: 0 }).replace("Subclass", "ReadableStream"),
};

/** Functions of `node:stream` that few programs use. */
export const rareNodePlaces: Places<Stream> = {
  ...Object.fromEntries(
    (["arrayBuffer", "blob", "buffer", "json"] as const).map((name) => [
      `consumers.${name}()`,
      (stream: Stream) => () => outcome(async () => await plain(await consumers[name](asNode(stream)))),
    ]),
  ),
  "addAbortSignal()": (stream) => async () => {
    const abort = new AbortController();
    const added = await outcome(() => void addAbortSignal(abort.signal, stream as never));
    abort.abort();
    return [added, await outcome(() => new Response(stream).text())];
  },
  "pipeline() into a function": (stream) => () =>
    outcome(() =>
      new Promise((resolve) => {
        let text = "";
        const take = async (chunks: AsyncIterable<Bytes>): Promise<void> => {
          for await (const chunk of chunks) text += decode(chunk);
        };
        pipeline(asNode(stream), take as never, (error) => resolve([error?.name, text]));
      })
    ),
  "Readable.fromWeb(), destroyed": (stream) => () =>
    outcome(async () => {
      const readable = Readable.fromWeb(asNode(stream));
      readable.on("error", () => {});
      await new Promise((resolve) => readable.on("close", resolve).destroy());
      return stream.locked;
    }),
};

interface BunStream {
  text(): Promise<string>;
  json(): Promise<unknown>;
  bytes(): Promise<Uint8Array>;
  blob(): Promise<Blob>;
}
interface BunReader {
  readMany(): Promise<{ done: boolean; value: Bytes[] }> | { done: boolean; value: Bytes[] };
}

/** Methods of Bun's streams. */
export const rareBunPlaces: Places<Stream> = {
  ...Object.fromEntries(
    (["text", "json", "bytes", "blob"] as const).map((name) => [
      `stream.${name}()`,
      (stream: Stream) => () => outcome(async () => await plain(await (stream as unknown as BunStream)[name]())),
    ]),
  ),
  "reader.readMany()": (stream) => () =>
    outcome(async () => {
      const reader = stream.getReader() as unknown as BunReader;
      const texts: unknown[] = [];
      for (let end = false; !end;) {
        const { done, value } = await reader.readMany();
        for (const chunk of value ?? []) texts.push(decode(chunk));
        end = done;
      }
      return texts;
    }),
};

interface BunGlobal {
  write(path: string, data: unknown): Promise<number>;
  readableStreamToText(stream: Stream): Promise<string>;
  readableStreamToJSON(stream: Stream): Promise<unknown>;
  readableStreamToBytes(stream: Stream): Promise<Uint8Array>;
  readableStreamToArrayBuffer(stream: Stream): Promise<ArrayBuffer>;
  readableStreamToBlob(stream: Stream): Promise<Blob>;
  readableStreamToArray(stream: Stream): Promise<Bytes[]>;
}
interface Rewriter {
  transform(response: Response): Response;
}

/** The places that only Bun has. */
export const bunPlaces: Places<Stream> = {
  ...Object.fromEntries(
    (["Text", "JSON", "Bytes", "ArrayBuffer", "Blob", "Array"] as const).map((kind) => [
      `Bun.readableStreamTo${kind}()`,
      (stream: Stream) => () =>
        outcome(async () => {
          const { Bun } = globalThis as unknown as { Bun: BunGlobal };
          const value = await Bun[`readableStreamTo${kind}`](stream);
          return Array.isArray(value) ? value.map(String) : await plain(value);
        }),
    ]),
  ),
  "Bun.write()": (stream) => {
    const response = new Response(stream);
    return () =>
      outcomeFromOutside(async () => {
        const { Bun } = globalThis as unknown as { Bun: BunGlobal };
        const folder = await mkdtemp(join(tmpdir(), "millrace-edge-"));
        try {
          const written = await Bun.write(join(folder, "file"), response);
          return [written, await readFile(join(folder, "file"), "utf8")];
        } finally {
          await rm(folder, { recursive: true });
        }
      });
  },
  "HTMLRewriter": (stream) => {
    const response = new Response(stream);
    return () =>
      outcome(() => {
        const { HTMLRewriter } = globalThis as unknown as { HTMLRewriter: new () => Rewriter };
        return new HTMLRewriter().transform(response).text();
      });
  },
};

const asNodeWritable = (stream: WritableStream): never => stream as never;
const ignore = (): void => {};

/** `node:stream` and `node:util`, of writable streams. */
export const writableNodePlaces: Places<Watched> = {
  "Writable.fromWeb()": (it) => () =>
    seen(() =>
      new Promise((resolve, reject) => {
        const writable = Writable.fromWeb(asNodeWritable(it.stream), { decodeStrings: false, objectMode: true });
        writable.on("error", reject).on("finish", () => resolve("finished"));
        writable.end("x");
      }), it),
  "pipeline() from a node stream": (it) => () =>
    seen(
      () =>
        new Promise((resolve) =>
          pipeline(Readable.from(["x"]), asNodeWritable(it.stream), (error?: Error | null) =>
            resolve(error?.name ?? "done"))
        ),
      it,
    ),
  "pipeline() from a native ReadableStream": (it) => () =>
    seen(
      () =>
        new Promise((resolve) =>
          pipeline(letters(native.ReadableStream) as never, asNodeWritable(it.stream), (error?: Error | null) =>
            resolve(error?.name ?? "done"))
        ),
      it,
    ),
  "finished()": ({ stream }) => () =>
    outcome(() => new Promise((resolve) => finished(asNodeWritable(stream), (error) => resolve(error?.name ?? error)))),
  "isErrored()": ({ stream }) => () => isErrored(asNodeWritable(stream)),
  "inspect()": ({ stream }) => () => inspect(stream, { depth: 0 }).replaceAll("Subclass", "WritableStream"),
};

/** Runs a pipeline, and returns its output. */
function piped(
  run: (done: (error?: Error | null) => void, out: (chunk: unknown) => void) => unknown,
): Promise<unknown> {
  return outcome(() => {
    let text = "";
    return new Promise((resolve) => {
      run((error) => resolve([error?.name ?? "done", text]), (chunk) => text += decode(chunk));
    });
  });
}

const node = () => Readable.from(["a", "b"]);
const nodeSink = (out: (chunk: unknown) => void) =>
  new PassThrough({ objectMode: true }).on("data", out).on("error", ignore);
// deno-lint-ignore no-explicit-any -- pipeline() of node:stream takes what its types do not know
const run = (...stages: any[]): void => (pipeline as (...stages: any[]) => void)(...stages);

/** The places of transform streams. */
export const transformNodePlaces: Places<Pair> = {
  "pipeline(node, it, node)": (it) => () => piped((done, out) => run(node(), it, nodeSink(out), done)),
  "pipeline(rs, it, ws)": (it, classes) => () =>
    piped((done, write) => {
      const source = new classes.ReadableStream({
        start: (controller) => (controller.enqueue("a"), controller.close()),
      });
      run(source, it, new classes.WritableStream({ write }), done);
    }),
  "pipeline(native rs, it, native ws)": (it) => () =>
    piped((done, write) => {
      const source = new native.ReadableStream({
        start: (controller) => (controller.enqueue("a"), controller.close()),
      });
      run(source, it, new native.WritableStream({ write }), done);
    }),
  "pipeline(node, it, another, node)": (it, { TransformStream }) => () =>
    piped((done, out) => run(node(), it, new TransformStream(), nodeSink(out), done)),
  "pipeline(node, native, it, node)": (it) => () =>
    piped((done, out) => run(node(), new native.TransformStream(), it, nodeSink(out), done)),
  "pipeline(node, it, function)": (it) => () =>
    piped((done, out) =>
      run(node(), it, async (chunks: AsyncIterable<unknown>) => {
        for await (const chunk of chunks) out(chunk);
      }, done)
    ),
  "pipeline(node, it)": (it) => () => {
    const text = (async () => {
      let text = "";
      for await (const chunk of it.readable) text += decode(chunk);
      return text;
    })();
    return Promise.all([piped((done) => run(node(), it, done)), outcome(() => text)]);
  },
  "pipeline(it, node)": (it) => () => {
    const writer = it.writable.getWriter();
    writer.closed.catch(ignore);
    writer.write("a").catch(ignore);
    writer.close().catch(ignore);
    return piped((done, out) => run(it, nodeSink(out), done));
  },
  "compose(it)": (it) => () => composed(() => compose(it as never)),
  "compose(it, another)": (it, { TransformStream }) => () =>
    composed(() => compose(it as never, new TransformStream() as never)),
  "compose(another, it)": (it, { TransformStream }) => () =>
    composed(() => compose(new TransformStream() as never, it as never)),
  "Readable.compose(it)": (it) => () =>
    outcome(async () => {
      let text = "";
      for await (const chunk of node().compose(it as never)) text += decode(chunk);
      return text;
    }),
  "Duplex.fromWeb(it)": (it) => () => composed(() => Duplex.fromWeb(it as never, { objectMode: true })),
  "Duplex.from(it)": (it) => () => composed(() => Duplex.from(it as never)),
  "inspect()": (it) => () => inspect(it, { depth: 0 }).replaceAll("Subclass", "TransformStream"),
};

function composed(make: () => Duplex): Promise<unknown> {
  return outcome(() => {
    let text = "";
    return new Promise((resolve) => {
      const duplex = make();
      duplex.on("data", (chunk: unknown) => text += decode(chunk)).on(
        "error",
        (error: Error) => resolve([error.name, text]),
      );
      duplex.on("end", () => resolve(["done", text]));
      duplex.write("a");
      duplex.end();
    });
  });
}
