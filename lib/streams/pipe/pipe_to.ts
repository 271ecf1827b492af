import { nativePipeThrough, nativePipeTo } from "../language/native_classes.ts";
import { attempt, markAsHandled } from "../language/promises.ts";
import { Pipe } from "./pipe.ts";
import { type ReadableEnd, toPipeTransform, toReadableEnd, toWritableEnd, type WritableEnd } from "./pipe_ends.ts";
import { type PipeOptions, type StreamPipeOptions, toPipeOptions } from "./pipe_options.ts";

/**
 * Pipes all chunks of a readable stream into a writable one; settles when all chunks are written and the destination is
 * closed, or when an end has failed. Both streams may be of this package or native.
 *
 * No chunk that was read is lost: chunks that a transform's `flush()` enqueues are written before the destination
 * closes.
 *
 * @param source the source of chunks.
 * @param destination the destination of chunks.
 * @param options `preventClose`, `preventAbort` and `preventCancel`, all false by default, keep an end open; `signal`
 * stops the pipe; `counts` is incremented for each chunk read and written.
 * @returns a promise, rejected with the error of the end that failed, with the signal's reason, or with a TypeError if
 * an end is locked or not a stream.
 * @see {@link https://streams.spec.whatwg.org/#readable-stream-pipe-to}
 * @example Pipe, for ten seconds at most
 * ```ts
 * import { pipeTo, ReadableStream, WritableStream } from "@millrace/streams/streams";
 *
 * const words: string[] = [];
 * const list = new WritableStream<string>({ write: (word) => void words.push(word) });
 * await pipeTo(ReadableStream.from(["mill", "race"]), list, { signal: AbortSignal.timeout(10_000) });
 * console.log(words.join(" ")); // mill race
 * ```
 */
export function pipeTo<T>(
  source: globalThis.ReadableStream<T>,
  destination: globalThis.WritableStream<T>,
  options?: StreamPipeOptions,
): Promise<void> {
  return pipeStreams(source, destination, options, "pipeTo()");
}

/** Pipes as the standard's method does, which ignores unknown options, or as `owner`, which does not. */
export function pipeStreams(
  source: globalThis.ReadableStream,
  destination: globalThis.WritableStream,
  given: StreamPipeOptions | undefined,
  owner?: string,
): Promise<void> {
  return attempt(() => {
    const readable = toReadableEnd(source, "the source");
    const writable = toWritableEnd(destination, "the destination");
    const options = toPipeOptions(given, owner);
    if (areNative(readable, writable, options)) {
      return nativePipeTo.call(source, destination, options as StreamPipeOptions);
    }
    return startPipe(readable, writable, options);
  }) as Promise<void>;
}

/**
 * Pipes a readable stream into a transform's writable end, and returns its readable end. Streams of this package and
 * native ones can be mixed. A failure of the pipe errors the readable end.
 *
 * @param source the source of chunks.
 * @param transform a TransformStream or any pair of `readable` and `writable`.
 * @param options the options of {@linkcode pipeTo}.
 * @throws {TypeError} if an end is locked, or an argument of the wrong type.
 * @see {@link https://streams.spec.whatwg.org/#rs-pipe-through}
 * @example Through a transform of the runtime's own
 * ```ts
 * import { pipeThrough, ReadableStream } from "@millrace/streams/streams";
 *
 * const letters = ReadableStream.from(["a", "ä"]);
 * for await (const bytes of pipeThrough(letters, new TextEncoderStream())) console.log(bytes.length); // 1, 2
 * ```
 */
export function pipeThrough<T, S extends globalThis.ReadableStream>(
  source: globalThis.ReadableStream<T>,
  transform: { readable: S; writable: globalThis.WritableStream<T> },
  options?: StreamPipeOptions,
): S;
/** Pipes `readable` through a transform, with explicit types of chunks. */
export function pipeThrough<T, U>(
  source: globalThis.ReadableStream<T>,
  transform: { readable: globalThis.ReadableStream<U>; writable: globalThis.WritableStream<T> },
  options?: StreamPipeOptions,
): globalThis.ReadableStream<U>;
export function pipeThrough<T, U>(
  source: globalThis.ReadableStream<T>,
  transform: { readable: globalThis.ReadableStream<U>; writable: globalThis.WritableStream<T> },
  options?: StreamPipeOptions,
): globalThis.ReadableStream<U> {
  return pipeStreamThrough(source, transform, options, "pipeThrough()") as globalThis.ReadableStream<U>;
}

/** Pipes through a transform, with options as in {@linkcode pipeStreams}. */
export function pipeStreamThrough(
  source: globalThis.ReadableStream,
  transform: unknown,
  given: StreamPipeOptions | undefined,
  owner?: string,
): object {
  const readable = toReadableEnd(source, "the source");
  const pair = toPipeTransform(transform);
  const options = toPipeOptions(given, owner);
  if (areNative(readable, pair.writableEnd, options)) {
    return nativePipeThrough.call(source, pair as unknown as ReadableWritablePair, options as never);
  }
  markAsHandled(startPipe(readable, pair.writableEnd, options));
  return pair.readable;
}

/** Whether both are native: the runtime's own pipe sees their states at once, so it is faster and more exact. */
function areNative(source: ReadableEnd, destination: WritableEnd, { counts }: PipeOptions): boolean {
  return source.isNative && destination.isNative && counts === undefined;
}

/** Locks both ends and starts the pipe. @throws {TypeError} if an end is locked. */
function startPipe(source: ReadableEnd, destination: WritableEnd, options: PipeOptions): Promise<void> {
  source.checkFree();
  destination.checkFree();
  const pipe = new Pipe(source, destination, options);
  pipe.start();
  return pipe.finished;
}
