import { type Classes, FRESH, type Kinds, native, type States, turns } from "./cells.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const PIECES = ["one,", "two,", "three"];
const encoded = (): Bytes[] => PIECES.map((piece) => new TextEncoder().encode(piece));

function pulled(ReadableStream: Classes["ReadableStream"], options: object = {}, highWaterMark?: number) {
  const chunks = encoded();
  return new ReadableStream<Bytes>({
    ...options,
    pull(controller: ReadableByteStreamController): void {
      const chunk = chunks.shift();
      if (chunk !== undefined) return controller.enqueue(chunk);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  } as UnderlyingDefaultSource<Bytes>, { highWaterMark });
}

function started(ReadableStream: Classes["ReadableStream"], options: object = {}): ReadableStream<Bytes> {
  return new ReadableStream<Bytes>({
    ...options,
    start(controller): void {
      for (const chunk of encoded()) controller.enqueue(chunk);
      controller.close();
    },
  } as UnderlyingDefaultSource<Bytes>);
}

/** Readable streams of the same text, each made in another way, or of another end. */
export const readables: Kinds<ReadableStream<Bytes>> = {
  "a stream filled in start()": ({ ReadableStream }) => started(ReadableStream),
  "a stream that is pulled": ({ ReadableStream }) => pulled(ReadableStream, {}, 0),
  "a byte stream": ({ ReadableStream }) => pulled(ReadableStream, { type: "bytes" }, 0),
  "a byte stream filled in start()": ({ ReadableStream }) => started(ReadableStream, { type: "bytes" }),
  ..."from" in native.ReadableStream && { // Chromium 156 has it not
    "from()": ({ ReadableStream }: Classes) =>
      (ReadableStream as unknown as { from(chunks: Iterable<Bytes>): ReadableStream<Bytes> }).from(encoded()),
  },
  "a subclass": ({ ReadableStream }) =>
    pulled(class Subclass extends ReadableStream<Bytes> {} as typeof ReadableStream, {}, 0),
  "an end of a TransformStream": ({ TransformStream }) => {
    const { readable, writable } = new TransformStream<Bytes, Bytes>();
    const writer = writable.getWriter();
    for (const chunk of encoded()) writer.write(chunk).catch(() => {});
    writer.close().catch(() => {});
    return readable;
  },
  "an end of a TextEncoderStream": ({ TextEncoderStream }) => {
    const { readable, writable } = new TextEncoderStream();
    const writer = writable.getWriter();
    for (const piece of PIECES) writer.write(piece).catch(() => {});
    writer.close().catch(() => {});
    return readable as ReadableStream<Bytes>;
  },
  "a branch of tee()": ({ ReadableStream }) => pulled(ReadableStream, {}, 0).tee()[0],
  "a stream that ended empty": ({ ReadableStream }) =>
    new ReadableStream({ start: (controller) => controller.close() }),
  "a stream that failed": ({ ReadableStream }) =>
    new ReadableStream({ start: (controller) => controller.error(new RangeError("broken")) }),
  "a stream that fails late": ({ ReadableStream }) => {
    let count = 0;
    return new ReadableStream<Bytes>({
      pull(controller): void {
        if (count++ === 0) controller.enqueue(encoded()[0]!);
        else controller.error(new RangeError("broken"));
      },
    }, { highWaterMark: 0 });
  },
};

const ignore = (): void => {};

/** Everything that a program does with a stream before the runtime gets it, or while the runtime has it. */
export const readableStates: States<ReadableStream<Bytes>> = {
  [FRESH]: () => {},
  "a reader": (stream) => void stream.getReader().closed.catch(ignore),
  "a reader, released": (stream) => {
    const reader = stream.getReader();
    reader.closed.catch(ignore);
    reader.releaseLock();
  },
  "a reader that has read once": async (stream) => {
    const reader = stream.getReader();
    reader.closed.catch(ignore);
    await reader.read().catch(ignore);
  },
  "read once, released": async (stream) => {
    const reader = stream.getReader();
    reader.closed.catch(ignore);
    await reader.read().catch(ignore);
    reader.releaseLock();
  },
  "read to its end, released": async (stream) => {
    const reader = stream.getReader();
    reader.closed.catch(ignore);
    for (let done = false; !done;) done = await reader.read().then((result) => result.done, () => true);
    reader.releaseLock();
  },
  "a reader that has cancelled": async (stream) => {
    const reader = stream.getReader();
    reader.closed.catch(ignore);
    await reader.cancel().catch(ignore);
  },
  "iterated once": async (stream) => {
    try {
      for await (const _ of stream) break;
    } catch { /* it failed */ }
  },
  "iterated once, not cancelled": async (stream) => {
    try {
      for await (const _ of stream.values({ preventCancel: true })) break;
    } catch { /* it failed */ }
  },
  "iterated to its end": async (stream) => {
    try {
      for await (const _ of stream);
    } catch { /* it failed */ }
  },
  "an iterator": (stream) => void stream.values(),
  "an iterator that has read once": async (stream) => void await stream.values().next().catch(ignore),
  cancelled: (stream) => stream.cancel("enough").catch(ignore),
  "tee()": (stream) => void stream.tee(),
  "tee(), one branch read": async (stream) => {
    const [branch] = stream.tee();
    await branch.getReader().read().catch(ignore);
  },
  "piped to its end": (stream, { WritableStream }) => stream.pipeTo(new WritableStream()).catch(ignore),
  "a pipe under way": async (stream, { WritableStream }) => {
    stream.pipeTo(new WritableStream({ write: () => new Promise<void>(ignore) })).catch(ignore);
    await turns(2);
  },
  "a pipe that was stopped": async (stream, { WritableStream }) => {
    const stop = new AbortController();
    const write = (): void => stop.abort();
    await stream.pipeTo(new WritableStream({ write }), { signal: stop.signal, preventCancel: true }).catch(ignore);
  },
  "pipeThrough()": (stream, { TransformStream }) => void stream.pipeThrough(new TransformStream()),
  "pipeThrough() a native transform": async (stream) => {
    stream.pipeThrough(new native.TransformStream());
    await turns(1);
  },
};
