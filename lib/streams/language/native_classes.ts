/**
 * The runtime's own classes and the methods we use of them, taken when this module loads, so that `install` can put
 * ours in their place, and patches of their prototypes change nothing here.
 *
 * @module
 */
import { getterOf } from "#streams/host";
import { hasBrand, isObject } from "./webidl.ts";

export const NativeReadableStream: typeof globalThis.ReadableStream = globalThis.ReadableStream;
export const NativeWritableStream: typeof globalThis.WritableStream = globalThis.WritableStream;
export const NativeTransformStream: typeof globalThis.TransformStream = globalThis.TransformStream;

const readable: globalThis.ReadableStream = NativeReadableStream.prototype;
const writable: globalThis.WritableStream = NativeWritableStream.prototype;

export const nativeGetReader: globalThis.ReadableStream["getReader"] = readable.getReader;
export const nativePipeThrough: globalThis.ReadableStream["pipeThrough"] = readable.pipeThrough;
export const nativePipeTo: globalThis.ReadableStream["pipeTo"] = readable.pipeTo;
export const nativeGetWriter: globalThis.WritableStream["getWriter"] = writable.getWriter;

const readableLocked = getterOf(readable, "locked");
const writableLocked = getterOf(writable, "locked");

type Reader = globalThis.ReadableStreamDefaultReader;
type ByobReader = globalThis.ReadableStreamBYOBReader;
type Writer = globalThis.WritableStreamDefaultWriter;

export const NativeReadableStreamDefaultReader: typeof globalThis.ReadableStreamDefaultReader =
  globalThis.ReadableStreamDefaultReader;
export const NativeWritableStreamDefaultWriter: typeof globalThis.WritableStreamDefaultWriter =
  globalThis.WritableStreamDefaultWriter;

const reader: Reader = NativeReadableStreamDefaultReader.prototype;
const writer: Writer = NativeWritableStreamDefaultWriter.prototype;

/** Whether the runtime has byte streams: WebKitGTK 2.50 has none. */
export const hasNativeByteStreams: boolean = "ReadableStreamBYOBReader" in globalThis;

// What locks the native side of our streams in its place; our class, which is to extend a global, takes it away again.
if (!hasNativeByteStreams) {
  class ReadableStreamBYOBReader {
    readonly #reader: Reader;
    constructor(stream: globalThis.ReadableStream) {
      this.#reader = nativeGetReader.call(stream) as Reader;
    }
    get closed(): Promise<void> {
      return nativeReaderClosed.call(this.#reader);
    }
    releaseLock(): void {
      nativeReader.releaseLock.call(this.#reader);
    }
  }
  Object.defineProperty(globalThis, "ReadableStreamBYOBReader", {
    value: ReadableStreamBYOBReader,
    configurable: true,
  });
}

export const NativeReadableStreamBYOBReader: typeof globalThis.ReadableStreamBYOBReader =
  globalThis.ReadableStreamBYOBReader;

const byobReader: ByobReader = NativeReadableStreamBYOBReader.prototype;

export const nativeReader: Pick<Reader, "cancel" | "read" | "releaseLock"> = {
  cancel: reader.cancel,
  read: reader.read,
  releaseLock: reader.releaseLock,
};

/** Bun's result of `readMany()`. */
export interface ManyChunks {
  readonly value: unknown[];
  readonly done: boolean;
}

/** Bun's `readMany()`, which takes all that is queued, at once if there is something. */
export const nativeReadMany: ((this: Reader) => ManyChunks | Promise<ManyChunks>) | undefined =
  (reader as { readMany?: () => ManyChunks | Promise<ManyChunks> }).readMany;

export const nativeByobReader: Pick<ByobReader, "cancel" | "read"> = {
  cancel: byobReader.cancel,
  read: byobReader.read,
};
export const nativeWriter: Pick<Writer, "abort" | "close" | "releaseLock" | "write"> = {
  abort: writer.abort,
  close: writer.close,
  releaseLock: writer.releaseLock,
  write: writer.write,
};

export const nativeReaderClosed: (this: Reader) => Promise<void> = getterOf(reader, "closed");
export const nativeByobReaderClosed: (this: ByobReader) => Promise<void> = getterOf(byobReader, "closed");
export const nativeWriterClosed: (this: Writer) => Promise<void> = getterOf(writer, "closed");
export const nativeWriterDesiredSize: (this: Writer) => number | null = getterOf(writer, "desiredSize");
export const nativeWriterReady: (this: Writer) => Promise<void> = getterOf(writer, "ready");

/** Whether the runtime's own side of a stream is locked. */
export function isNativeReadableStreamLocked(stream: object): boolean {
  return readableLocked.call(stream);
}

/** Whether the runtime's own side of a stream is locked. */
export function isNativeWritableStreamLocked(stream: object): boolean {
  return writableLocked.call(stream);
}

/** Whether the runtime takes a value for its own ReadableStream, as it does with ours. */
export function isNativeReadableStream(value: unknown): value is globalThis.ReadableStream {
  return isObject(value) && hasBrand(readableLocked, value);
}

/** Whether the runtime takes a value for its own WritableStream, as it does with ours. */
export function isNativeWritableStream(value: unknown): value is globalThis.WritableStream {
  return isObject(value) && hasBrand(writableLocked, value);
}

/** Makes the objects of a class bare dictionaries to the runtime: what is on Object.prototype is no member of theirs. */
export function inheritNothing({ prototype }: { prototype: object }): void {
  Object.setPrototypeOf(prototype, null);
}
