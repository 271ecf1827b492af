import {
  isNativeReadableStream,
  isNativeWritableStream,
  nativePipeThrough,
  nativePipeTo,
} from "../language/native_classes.ts";
import { markAsHandled, promiseRejectedWith } from "../language/promises.ts";
import { readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import { writableStreamStateOf } from "../native/feeds/writable_feed.ts";
import { Pipe } from "./pipe.ts";
import { type ReadableEnd, toPipeTransform, toReadableEnd, toWritableEnd, type WritableEnd } from "./pipe_ends.ts";
import { type PipeOptions, type StreamPipeOptions, toPipeOptions } from "./pipe_options.ts";

/**
 * Pipes all chunks of a readable stream into a writable one; settles when everything is written and the destination
 * closed, or when an end has failed. Both may be of this package or native.
 *
 * No chunk that was read is lost: chunks that a transform's `flush()` enqueues are written before the destination
 * closes.
 *
 * @param source where chunks come from.
 * @param destination where they go.
 * @param options `preventClose`, `preventAbort` and `preventCancel`, all false by default, keep an end open; `signal`
 * stops the pipe; to `counts` it adds the chunks it reads and writes.
 * @returns a promise, rejected with the error of the end that failed, with the signal's reason, or with a TypeError if
 * an end is locked or no stream.
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
  try {
    if (isNative(source, destination, options)) return nativePipeTo.call(source, destination, options);
    const readable = toReadableEnd(source, "the source");
    const writable = toWritableEnd(destination, "the destination");
    return startPipe(readable, writable, toPipeOptions(options));
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

/**
 * Pipes a readable stream into a transform's writable end, and returns its readable end. All may be of this package or
 * native. A failure of the pipe errors the readable end.
 *
 * @param source where chunks come from.
 * @param transform a TransformStream or any pair of `readable` and `writable`.
 * @param options as of {@linkcode pipeTo}.
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
  const readable = toReadableEnd(source, "the source");
  const pair = toPipeTransform(transform);
  if (isNative(source, pair.writable, options)) {
    return nativePipeThrough.call(source, pair as unknown as ReadableWritablePair, options) as never;
  }
  markAsHandled(startPipe(readable, pair.writableEnd, toPipeOptions(options)));
  return pair.readable as globalThis.ReadableStream<U>;
}

/** Whether both are native: the runtime's own pipe sees their states at once, and is faster and more exact for them. */
function isNative(source: unknown, destination: unknown, options?: StreamPipeOptions): boolean {
  return options?.counts === undefined && readableStreamStateOf(source) === undefined &&
    writableStreamStateOf(destination) === undefined &&
    isNativeReadableStream(source) && isNativeWritableStream(destination);
}

/** Locks both ends and starts the pipe. @throws {TypeError} if one is locked. */
function startPipe(source: ReadableEnd, destination: WritableEnd, options: PipeOptions): Promise<void> {
  source.checkFree();
  destination.checkFree();
  const pipe = new Pipe(source, destination, options);
  pipe.start();
  return pipe.finished;
}
