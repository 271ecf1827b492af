import { isNativeReadableStream, isNativeWritableStream, nativeStream } from "../language/native_classes.ts";
import { refuseUnknown } from "../language/errors.ts";
import { attempt, markAsHandled } from "../language/promises.ts";
import { readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import { writableStreamStateOf } from "../native/feeds/writable_feed.ts";
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
  return attempt(() => {
    if (isNative(source, destination, options)) return nativeStream.pipeTo.call(source, destination, options);
    return pipeStreams(source, destination, options);
  }) as Promise<void>;
}

/** Pipes as the standard's method of a stream of this package, which ignores unknown options. */
export function pipeStreams<T>(
  source: globalThis.ReadableStream<T>,
  destination: globalThis.WritableStream<T>,
  options?: StreamPipeOptions,
): Promise<void> {
  return attempt(() => {
    const readable = toReadableEnd(source, "the source");
    const writable = toWritableEnd(destination, "the destination");
    return startPipe(readable, writable, toPipeOptions(options));
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
  const readable = toReadableEnd(source, "the source");
  const pair = toPipeTransform(transform);
  if (isNative(source, pair.writable, options)) {
    return nativeStream.pipeThrough.call(source, pair as unknown as ReadableWritablePair, options) as never;
  }
  return pipeThroughEnds(readable, pair, options) as globalThis.ReadableStream<U>;
}

/** Pipes through a transform as the standard's method does after its conversions; returns the transform's readable end. */
export function pipeThroughEnds(
  source: ReadableEnd,
  pair: ReturnType<typeof toPipeTransform>,
  options?: StreamPipeOptions,
): object {
  markAsHandled(startPipe(source, pair.writableEnd, toPipeOptions(options)));
  return pair.readable;
}

/**
 * Whether both are native: the runtime's own pipe sees their states at once, so it is faster and more exact.
 *
 * @throws {TypeError} if an option is unknown, which the standard's methods ignore.
 */
function isNative(source: unknown, destination: unknown, options?: StreamPipeOptions): boolean {
  refuseUnknown("pipe", options, toPipeOptions({}));
  return options?.counts === undefined && readableStreamStateOf(source) === undefined &&
    writableStreamStateOf(destination) === undefined &&
    isNativeReadableStream(source) && isNativeWritableStream(destination);
}

/** Locks both ends and starts the pipe. @throws {TypeError} if an end is locked. */
function startPipe(source: ReadableEnd, destination: WritableEnd, options: PipeOptions): Promise<void> {
  source.checkFree();
  destination.checkFree();
  const pipe = new Pipe(source, destination, options);
  pipe.start();
  return pipe.finished;
}
