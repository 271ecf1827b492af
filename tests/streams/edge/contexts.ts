import { AsyncLocalStorage } from "node:async_hooks";
import { type Classes, native, ours, turns } from "./cells.ts";

/**
 * The user of each step: the maker of the streams, of each pipe, the sender of a chunk, and the reader of what comes
 * out.
 */
const user = new AsyncLocalStorage<string>();

type Chunks = ReadableStream<Uint8Array<ArrayBuffer>>;

const ignore = (): void => {};

/** Ways to read the output of a chain of streams, each in the context of the reader. */
const readers: Readonly<Record<string, (stream: Chunks, sink: WritableStream, end: string) => Promise<unknown>>> = {
  async "a reader"(stream, _, end) {
    const reader = stream.getReader();
    await reader.read();
    if (end === "is cancelled") return await reader.cancel();
    for (let done = false; !done;) done = (await reader.read()).done;
  },
  async "an iterator"(stream, _, end) {
    for await (const _ of stream) if (end === "is cancelled") break;
  },
  async "the runtime's reader"(stream, _, end) {
    const reader = native.ReadableStream.prototype.getReader.call(stream) as ReadableStreamDefaultReader;
    await reader.read();
    if (end === "is cancelled") return await reader.cancel();
    for (let done = false; !done;) done = (await reader.read()).done;
  },
  "a body": (stream) => new Response(stream).text(),
  "a pipe": (stream, sink) => stream.pipeTo(sink),
};

/** The time at which a source has its chunk, at which the chain is read, and the way it ends. */
const WHEN = ["pulled", "enqueued at once", "enqueued before the pipe", "enqueued in a later turn"];
const READ = ["read at once", "read later"];
const END = ["closes", "errors", "is cancelled"];

/** A way to run a chain: who reads, and all of the above. */
export const ways: readonly string[] = Object.keys(readers).flatMap((reader) =>
  WHEN.flatMap((when) => READ.flatMap((read) => END.map((end) => [reader, when, read, end].join(", "))))
);

/** The classes of a chain's parts. */
interface Mix {
  readonly source: Classes;
  readonly transform: Classes;
  readonly sink: Classes;
}

/**
 * Returns the callbacks that a chain of a source, a transform and, where it is piped on, a sink called, by their
 * contexts.
 */
export async function contextsOf({ source, transform, sink }: Mix, way: string): Promise<string[]> {
  const [reader, when, read, end] = way.split(", ") as [keyof typeof readers, string, string, string];
  const seen = new Set<string>();
  const see = (callback: string): void => void seen.add(`${callback} of ${user.getStore()}`);
  let controller!: ReadableStreamDefaultController;
  let chunks = 0;
  const finish = (): void => {
    if (end === "closes") controller.close();
    if (end === "errors") controller.error(new RangeError("broken"));
  };
  const { readable, pair, writable } = user.run("maker", () => ({
    readable: new source.ReadableStream({
      start: (given) => void (controller = given),
      ...when === "pulled" && {
        pull(): void {
          see("pull");
          if (chunks++ < 2) controller.enqueue(new Uint8Array(1));
          else finish();
        },
      },
      cancel: () => see("cancel of the source"),
    }, { highWaterMark: when === "pulled" ? 0 : 4 }),
    pair: new transform.TransformStream({
      transform: (chunk, controller) => (see("transform"), controller.enqueue(chunk)),
      flush: () => see("flush"),
      cancel: () => see("cancel of the transform"),
    } as Transformer),
    writable: new sink.WritableStream({
      write: () => see("write"),
      close: () => see("close"),
      abort: () => see("abort"),
    }),
  }));
  const send = (): void => user.run("sender", () => controller.enqueue(new Uint8Array(1)));
  if (when.includes("at once") || when.includes("before")) send();
  if (when.includes("before")) await turns(1);
  const out = user.run("pipe", () => readable.pipeThrough(pair));
  if (read === "read later") await turns(3);
  const ended = user.run("reader", () => readers[reader]!(out, writable, end).catch(ignore));
  await turns(2);
  if (when.includes("later")) send();
  await turns(2);
  if (when !== "pulled") user.run("sender", finish);
  await Promise.race([ended, turns(30)]);
  await turns(2);
  return [...seen].sort();
}

/** The runtime's own streams alone. */
export const NATIVE: Mix = { source: native, transform: native, sink: native };

/** The runtime's own streams, and all mixes with this package's, by name. */
export const mixes: Readonly<Record<string, Mix>> = Object.fromEntries(
  [native, ours].flatMap((source) =>
    [native, ours].flatMap((transform) =>
      [native, ours].map((sink) => {
        const isNative = source === native && transform === native && sink === native;
        const classes = isNative ? NATIVE : { source, transform, sink };
        return [Object.values(classes).map((each) => each === ours ? "ours" : "native").join(" | "), classes];
      })
    )
  ),
);
