import {
  type Classes,
  FRESH,
  type Kinds,
  native,
  outcome,
  outcomeFromOutside,
  type Places,
  type States,
  turns,
} from "./cells.ts";

/** A writable stream, and the calls of its sink. */
export interface Watched {
  readonly stream: WritableStream<string>;
  readonly log: string[];
  readonly controller: () => WritableStreamDefaultController;
}

const ignore = (): void => {};

export function watched(
  WritableStream: Classes["WritableStream"],
  sink: UnderlyingSink<string> = {},
  highWaterMark = 1,
): Watched {
  const log: string[] = [];
  let controller!: WritableStreamDefaultController;
  const stream = new WritableStream<string>({
    start: (given) => void (controller = given),
    write: (chunk) => void log.push(chunk),
    close: () => void log.push("close"),
    abort: (reason) => void log.push(`abort ${reason}`),
    ...sink,
  }, { highWaterMark });
  return { stream, log, controller: () => controller };
}

/** Writable streams, each with another sink. */
export const writables: Kinds<Watched> = {
  "a WritableStream": ({ WritableStream }) => watched(WritableStream),
  "one with room": ({ WritableStream }) => watched(WritableStream, {}, 100),
  "one of promises": ({ WritableStream }) => {
    const stream = watched(WritableStream, { write: async (chunk) => void (await null, stream.log.push(chunk)) });
    return stream;
  },
  "a subclass": ({ WritableStream }) =>
    watched(class Subclass extends WritableStream<string> {} as typeof WritableStream),
  "one that fails": ({ WritableStream }) =>
    watched(WritableStream, { write: () => Promise.reject(new RangeError("broken")) }),
  "an end of a TransformStream": ({ TransformStream, WritableStream }) => {
    const inner = watched(WritableStream);
    const { readable, writable } = new TransformStream<string, string>({ start: ignore });
    readable.pipeTo(inner.stream).catch(ignore);
    return { ...inner, stream: writable };
  },
};

/** The states of a writable stream, by the steps that lead to them. */
export const writableStates: States<Watched> = {
  [FRESH]: ignore,
  "a writer": ({ stream }) => void stream.getWriter().closed.catch(ignore),
  "a writer that has written": async ({ stream }) => {
    const writer = stream.getWriter();
    writer.closed.catch(ignore);
    await writer.write("before").catch(ignore);
  },
  "written, released": async ({ stream }) => {
    const writer = stream.getWriter();
    writer.closed.catch(ignore);
    await writer.write("before").catch(ignore);
    writer.releaseLock();
  },
  closed: ({ stream }) => stream.close().catch(ignore),
  "closed by a writer, released": async ({ stream }) => {
    const writer = stream.getWriter();
    writer.closed.catch(ignore);
    await writer.close().catch(ignore);
    writer.releaseLock();
  },
  closing: ({ stream }) => void stream.close().catch(ignore),
  aborted: ({ stream }) => stream.abort("enough").catch(ignore),
  "errored by its controller": async ({ controller }) => {
    controller().error(new RangeError("broken"));
    await turns(1);
  },
  "a pipe under way": async ({ stream }, { ReadableStream }) => {
    new ReadableStream<string>({ pull: () => new Promise<void>(ignore) }).pipeTo(stream).catch(ignore);
    await turns(1);
  },
  "a pipe that has ended": ({ stream }, { ReadableStream }) => letters(ReadableStream).pipeTo(stream).catch(ignore),
  "a pipe that left it open": ({ stream }, { ReadableStream }) =>
    letters(ReadableStream).pipeTo(stream, { preventClose: true }).catch(ignore),
  "a pipe that failed": ({ stream }, { ReadableStream }) =>
    new ReadableStream<string>({ start: (controller) => controller.error("enough") }).pipeTo(stream).catch(ignore),
};

export function letters(ReadableStream: Classes["ReadableStream"]): ReadableStream<string> {
  return new ReadableStream<string>({
    start: (controller) => {
      for (const letter of "ab") controller.enqueue(letter);
      controller.close();
    },
  });
}

const natives = native.WritableStream.prototype;
const nativeLocked = Object.getOwnPropertyDescriptor(natives, "locked")!.get!;

/** Returns the outcome of a place's steps, the sink's log, and whether the stream is locked. */
export const seen = async (steps: () => unknown, { log, stream }: Watched): Promise<unknown> => {
  const result = await outcome(steps);
  await turns(3);
  return [result, log, stream.locked];
};

/** The places that take a writable stream. */
export const writablePlaces: Places<Watched> = {
  locked: ({ stream }) => () => [stream.locked, nativeLocked.call(stream)],
  "getWriter()": (it) => () =>
    seen(async () => {
      const writer = natives.getWriter.call(it.stream);
      writer.closed.catch(ignore);
      writer.ready.catch(ignore);
      await writer.write("x");
      await writer.close();
    }, it),
  "getWriter(), released": ({ stream }) => () => {
    const writer = natives.getWriter.call(stream);
    writer.closed.catch(ignore);
    writer.ready.catch(ignore);
    const locked = stream.locked;
    writer.releaseLock();
    return [locked, stream.locked, nativeLocked.call(stream)];
  },
  "abort()": (it) => () => seen(() => natives.abort.call(it.stream, "why"), it),
  "close()": (it) => () => seen(() => natives.close.call(it.stream), it),
  "structuredClone(), written to": (it) => () =>
    outcomeFromOutside(async () => {
      const copy = structuredClone(it.stream, { transfer: [it.stream as never] });
      const writer = copy.getWriter();
      writer.closed.catch(ignore);
      await writer.write("x");
      await writer.close();
      for (let left = 200; left > 0 && it.log.at(-1) !== "close"; left--) await turns(1);
      return [it.stream.locked, it.log];
    }),
  "structuredClone() without transfer": ({ stream }) => () => outcome(() => structuredClone(stream)),
};
