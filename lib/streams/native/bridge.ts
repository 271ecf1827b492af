import { ReadableStream } from "#streams/readable_stream";
import { endedSideOf } from "#streams/lazy_side";
import { refuseOptions } from "#streams/host";
import { lockedError, mustBe } from "../language/errors.ts";
import {
  asStreamPair,
  hasNativeByteStreams,
  isNativeReadableStream,
  isNativeReadableStreamLocked,
  isNativeWritableStream,
  isNativeWritableStreamLocked,
  NativeReadableStream,
  NativeWritableStream,
} from "../language/native_classes.ts";
import { markAsHandled } from "../language/promises.ts";
import { construct } from "../language/webidl.ts";
import {
  checkReadableStreamFree,
  type NativeController,
  NativeReadableSource,
  readableStreamStateOf,
  UnseenReaderState,
} from "./feeds/readable_feed.ts";
import { checkWritableStreamFree, NativeWritableSink, writableStreamStateOf } from "./feeds/writable_feed.ts";
import { readableStreamReaderGenericInitialize } from "../readable/stream_state.ts";
import { WritableStream } from "../writable/writable_stream.ts";
import { isClosingOrClosed } from "../writable/stream_state.ts";
import { setUpWritableStreamDefaultWriter, WriterState } from "../writable/writer_state.ts";
import { FromNativeByteSource, fromNativeSink, NativeReadableEnd } from "./ends/native_ends.ts";

/** The high-water marks of {@linkcode toNative} in chunks and, for byte streams, in bytes. */
const BATCH_OF_CHUNKS = 16;
const BATCH_OF_BYTES = 65_536;

/**
 * Converts a stream of this package, which becomes locked, to one of the runtime's own class: reads and writes pass
 * through. Up to 16 chunks, or 64 KiB of a byte stream, pass at once, without a promise for each.
 *
 * The runtime accepts streams of this package anywhere. Use this for code that checks for the runtime's class, or for
 * speed if a native consumer reads many small chunks.
 *
 * @param stream a ReadableStream, a WritableStream, or a pair of both such as a TransformStream; a stream of the
 * runtime is returned as it is.
 * @throws {TypeError} if the stream is locked, or is not one of these.
 * @example For code that wants no class but its own
 * ```ts
 * import { ReadableStream, toNative } from "@millrace/streams/streams";
 *
 * const native = toNative(ReadableStream.from(["a", "b"]));
 * console.log(native.constructor === globalThis.ReadableStream); // true
 * ```
 */
export function toNative<R>(stream: globalThis.ReadableStream<R>): globalThis.ReadableStream<R>;
/** Converts to a native WritableStream. */
export function toNative<W>(stream: globalThis.WritableStream<W>): globalThis.WritableStream<W>;
/** Converts to a native pair. */
export function toNative<R, W>(
  stream: { readable: globalThis.ReadableStream<R>; writable: globalThis.WritableStream<W> },
): { readable: globalThis.ReadableStream<R>; writable: globalThis.WritableStream<W> };
export function toNative(stream: object, options?: unknown): object {
  refuseOptions("toNative()", options);
  const readable = readableStreamStateOf(stream);
  if (readable !== undefined) {
    checkReadableStreamFree(readable, "get a reader");
    const type = hasNativeByteStreams ? readable.controller.type : undefined;
    const feed = new ToNativeFeed(readable, type);
    return new NativeReadableStream(feed as UnderlyingDefaultSource, {
      highWaterMark: type ? BATCH_OF_BYTES : BATCH_OF_CHUNKS,
    });
  }
  const writable = writableStreamStateOf(stream);
  if (writable !== undefined) {
    checkWritableStreamFree(writable, "get a writer");
    const writer = new WriterState();
    writer.isPublic = true; // the native stream's producer awaits each write
    setUpWritableStreamDefaultWriter(writer, writable);
    const feed = new NativeWritableSink(writable);
    const native = endedSideOf(writable, feed) ??
      new NativeWritableStream(feed, feed.strategy(BATCH_OF_CHUNKS) ?? { highWaterMark: BATCH_OF_CHUNKS });
    if (isClosingOrClosed(writable)) markAsHandled((native as WritableStream).close());
    return native;
  }
  if (isNativeReadableStream(stream) || isNativeWritableStream(stream)) return stream;
  const pair = toPair(stream);
  return madePair(toNative(pair.readable), toNative(pair.writable));
}

/**
 * Converts a native stream, which becomes locked, to one of this package. A byte stream is read into buffers of 64 KiB.
 *
 * @param stream a ReadableStream, a WritableStream, or a pair of both such as a CompressionStream; a stream of this
 * package is returned as it is.
 * @throws {TypeError} if the stream is locked, or is not one of these.
 * @example Iterate over a native stream
 * ```ts
 * import { fromNative } from "@millrace/streams/streams";
 *
 * for await (const chunk of fromNative(new Blob(["a text"]).stream())) console.log(chunk.byteLength); // 6
 * ```
 */
export function fromNative<R>(stream: globalThis.ReadableStream<R>): ReadableStream<R>;
/** Converts to a WritableStream of this package. */
export function fromNative<W>(stream: globalThis.WritableStream<W>): WritableStream<W>;
/** Converts to a pair of this package. */
export function fromNative<R, W>(
  stream: { readable: globalThis.ReadableStream<R>; writable: globalThis.WritableStream<W> },
): { readable: ReadableStream<R>; writable: WritableStream<W> };
export function fromNative(stream: object, options?: unknown): object {
  refuseOptions("fromNative()", options);
  if (readableStreamStateOf(stream) !== undefined || writableStreamStateOf(stream) !== undefined) return stream;
  if (isNativeReadableStream(stream)) {
    if (isNativeReadableStreamLocked(stream)) throw lockedError("read from it");
    const state = FromNativeByteSource.open(stream)?.state ?? new NativeReadableEnd(stream).acquire();
    return construct(ReadableStream, state);
  }
  if (isNativeWritableStream(stream)) {
    if (isNativeWritableStreamLocked(stream)) throw lockedError("write to it");
    return construct(WritableStream, fromNativeSink(stream));
  }
  const { readable, writable } = toPair(stream);
  return madePair(fromNative(readable), fromNative(writable));
}

function madePair(readable: object, writable: object): object {
  return asStreamPair({ readable, writable }, Object as never);
}

function toPair(stream: object): ReadableWritablePair {
  const { readable, writable } = (stream ?? {}) as Partial<ReadableWritablePair>;
  if (!isNativeReadableStream(readable) || !isNativeWritableStream(writable)) {
    throw mustBe("the stream", "a ReadableStream, a WritableStream, or a pair of readable and writable");
  }
  if (readable.locked || writable.locked) throw lockedError("make a pair");
  return { readable, writable };
}

/** The source of a native stream: keeps this package's stream locked, and fills the native stream's free room at each pull. */
class ToNativeFeed extends NativeReadableSource {
  readonly #reader = new UnseenReaderState();

  start(controller: NativeController): void {
    readableStreamReaderGenericInitialize(this.#reader, this.stream);
    this.nativeController = controller;
    this.stream.feed = this;
    this.closeSteps();
  }

  override pull(controller: NativeController): void {
    do super.pull(controller); while (this.stream.controller.hasBuffered && controller.desiredSize! > 0);
  }

  override get isWanted(): boolean {
    return true;
  }

  override lockStream(): UnseenReaderState {
    return this.#reader;
  }
}
