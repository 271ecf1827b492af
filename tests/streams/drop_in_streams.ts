import type { StreamClasses } from "./drop_in_implementations.ts";

/** A chunk as body consumers take it. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the UTF-8 bytes of a text. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** A readable stream, and the calls of its source. */
export interface Watched<T> {
  readonly stream: ReadableStream<T>;
  /** Returns the number of chunks that the source has given. */
  readonly given: () => number;
  /** Resolves with the reason that the source's cancel() was called with. */
  readonly cancelled: Promise<unknown>;
}

/** The settings of a watched source, besides its chunks. */
export interface WatchedOptions {
  readonly type?: "bytes";
  readonly highWaterMark?: number;
  /** The delay in milliseconds before each chunk; by default chunks are enqueued at once. */
  readonly delay?: number;
  /** The error after the last chunk; without it the source closes. */
  readonly failure?: unknown;
}

/** Creates a stream that enqueues one of `chunks` a pull, and notes the calls of its source. */
export function watched<T>(
  streams: StreamClasses,
  chunks: Iterable<T>,
  { type, highWaterMark, delay, ...rest }: WatchedOptions = {},
): Watched<T> {
  const iterator = chunks[Symbol.iterator]();
  const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
  let given = 0;
  const source = {
    type,
    async pull(controller: ReadableStreamDefaultController<T>): Promise<void> {
      if (delay !== undefined) await new Promise((passed) => setTimeout(passed, delay));
      const { done, value } = iterator.next();
      if (done) return "failure" in rest ? controller.error(rest.failure) : closeWhole(controller);
      given++;
      controller.enqueue(value);
    },
    cancel: resolve,
  } as unknown as UnderlyingSource<T>;
  const strategy = highWaterMark === undefined ? undefined : { highWaterMark };
  return { stream: new streams.ReadableStream<T>(source, strategy), given: () => given, cancelled };
}

/** Closes, and answers the read that waits with a buffer of its own, as byte streams demand. */
function closeWhole(
  controller: ReadableStreamDefaultController & { byobRequest?: { respond(n: number): void } | null },
): void {
  controller.close();
  controller.byobRequest?.respond(0);
}

/** Every way to make a readable stream of bytes, by name; each gives the UTF-8 bytes of `pieces`. */
export const byteSources: Readonly<
  Record<string, (streams: StreamClasses, pieces: readonly string[]) => ReadableStream<Bytes>>
> = {
  "a stream filled in start()": ({ ReadableStream }, pieces) => {
    return new ReadableStream({
      start(controller): void {
        for (const piece of pieces) controller.enqueue(utf8(piece));
        controller.close();
      },
    });
  },
  "a stream that is pulled": (streams, pieces) => watched(streams, pieces.map(utf8)).stream,
  "a stream that is pulled late": (streams, pieces) => watched(streams, pieces.map(utf8), { delay: 1 }).stream,
  "a stream with highWaterMark 0": (streams, pieces) => watched(streams, pieces.map(utf8), { highWaterMark: 0 }).stream,
  "a byte stream": (streams, pieces) => watched(streams, pieces.map(utf8), { type: "bytes" }).stream,
  "a byte stream that fills the reader's buffer": ({ ReadableStream }, pieces) =>
    filledInPlace(ReadableStream, utf8(pieces.join(""))),
  "ReadableStream.from() an array": ({ ReadableStream }, pieces) => from(ReadableStream, pieces.map(utf8)),
  "ReadableStream.from() a generator": ({ ReadableStream }, pieces) => from(ReadableStream, later(pieces)),
  "the readable end of a TransformStream": ({ TransformStream }, pieces) => {
    const { readable, writable } = new TransformStream<string, Bytes>({
      transform(piece, controller): void {
        controller.enqueue(utf8(piece));
      },
    });
    const writer = writable.getWriter();
    for (const piece of pieces) writer.write(piece);
    writer.close();
    return readable;
  },
  "one branch of a tee": (streams, pieces) => {
    const [branch, other] = watched(streams, pieces.map(utf8)).stream.tee();
    other.cancel();
    return branch;
  },
};

async function* later(pieces: readonly string[]): AsyncGenerator<Bytes, void, void> {
  for (const piece of pieces) {
    await Promise.resolve();
    yield utf8(piece);
  }
}

function from<T>(constructor: typeof ReadableStream, chunks: Iterable<T> | AsyncIterable<T>): ReadableStream<T> {
  const { from } = constructor as unknown as { from(chunks: Iterable<T> | AsyncIterable<T>): ReadableStream<T> };
  return from.call(constructor, chunks);
}

function filledInPlace(constructor: typeof ReadableStream, bytes: Bytes): ReadableStream<Bytes> {
  let sent = 0;
  return new constructor({
    type: "bytes",
    autoAllocateChunkSize: 7,
    pull(controller): void {
      const request = controller.byobRequest!;
      const view = request.view as Bytes;
      const part = bytes.subarray(sent, sent + view.byteLength);
      if (part.length === 0) controller.close();
      new Uint8Array(view.buffer, view.byteOffset).set(part);
      request.respond(part.length);
      sent += part.length;
    },
  }) as ReadableStream<Bytes>;
}
