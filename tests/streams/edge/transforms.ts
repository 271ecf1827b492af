import { compose, Duplex, PassThrough, pipeline, Readable } from "node:stream";
import { inspect } from "node:util";
import { FRESH, type Kinds, native, outcome, outcomeFromOutside, type Places, type States, turns } from "./cells.ts";

type Pair = TransformStream<unknown, unknown>;
const ignore = (): void => {};
const mark = {
  transform: (chunk: unknown, controller: TransformStreamDefaultController) => controller.enqueue(`${chunk}!`),
};

/** Transform streams, each of another class. */
export const transforms: Kinds<Pair> = {
  "a TransformStream": ({ TransformStream }) => new TransformStream(mark),
  "one without a transformer": ({ TransformStream }) => new TransformStream(),
  "one of promises": ({ TransformStream }) =>
    new TransformStream({
      async transform(chunk, controller) {
        await null;
        controller.enqueue(`${chunk}!`);
      },
    }),
  "one that flushes": ({ TransformStream }) =>
    new TransformStream({ ...mark, flush: (controller) => controller.enqueue("end") }),
  "one that fails": ({ TransformStream }) =>
    new TransformStream({
      transform() {
        throw new RangeError("broken");
      },
    }),
  "a subclass": ({ TransformStream }) => new class Subclass extends TransformStream {}(mark),
  "a TextEncoderStream": ({ TextEncoderStream }) => new TextEncoderStream() as Pair,
};

/** What has happened to a transform stream. */
export const transformStates: States<Pair> = {
  [FRESH]: ignore,
  "its readable end locked": ({ readable }) => void readable.getReader().closed.catch(ignore),
  "its writable end locked": ({ writable }) => void writable.getWriter().closed.catch(ignore),
  "its readable end piped": ({ readable }, { WritableStream }) =>
    void readable.pipeTo(new WritableStream()).catch(ignore),
  "a chunk passed": async ({ readable, writable }) => {
    const writer = writable.getWriter();
    const reader = readable.getReader();
    writer.closed.catch(ignore);
    reader.closed.catch(ignore);
    writer.write("before").catch(ignore);
    await reader.read().catch(ignore);
    await turns(1);
    writer.releaseLock();
    reader.releaseLock();
  },
  "its readable end cancelled": ({ readable }) => readable.cancel("enough").catch(ignore),
  "its writable end aborted": ({ writable }) => writable.abort(new RangeError("broken")).catch(ignore),
};

const decode = (chunk: unknown): string =>
  typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk as Uint8Array);

/** Runs a pipeline, and gives what came out of it. */
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

/** The places that take a transform stream. */
export const transformPlaces: Places<Pair> = {
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
  "native pipeThrough()": (it) => () =>
    outcome(async () => {
      const source = new native.ReadableStream({
        start: (controller) => (controller.enqueue("a"), controller.close()),
      });
      let text = "";
      for await (const chunk of native.ReadableStream.prototype.pipeThrough.call(source, it as never)) {
        text += decode(chunk);
      }
      return text;
    }),
  "structuredClone()": (it) => () =>
    outcomeFromOutside(async () => {
      const { readable, writable } = structuredClone(it, { transfer: [it as never] });
      const writer = writable.getWriter();
      writer.closed.catch(ignore);
      writer.write("a").catch(ignore);
      writer.close().catch(ignore);
      const locks = [it.readable.locked, it.writable.locked];
      let text = "";
      for await (const chunk of readable) text += decode(chunk);
      return [locks, text];
    }),
  "structuredClone() without transfer": (it) => () => outcome(() => structuredClone(it)),
  "getters of the runtime's class": (it) => () => [
    Object.getOwnPropertyDescriptor(native.TransformStream.prototype, "readable")!.get!.call(it).locked,
    Object.getOwnPropertyDescriptor(native.TransformStream.prototype, "writable")!.get!.call(it).locked,
  ],
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
