/**
 * The runtime's own classes and the methods we use of them, taken when this module loads, so that `install` can put
 * ours in their place, and patches of their prototypes change nothing here.
 *
 * @module
 */

/** The runtime's own ReadableStream. */
export const NativeReadableStream: typeof globalThis.ReadableStream = globalThis.ReadableStream;
/** The runtime's own WritableStream. */
export const NativeWritableStream: typeof globalThis.WritableStream = globalThis.WritableStream;
/** The runtime's own TransformStream. */
export const NativeTransformStream: typeof globalThis.TransformStream = globalThis.TransformStream;

const readable: globalThis.ReadableStream = NativeReadableStream.prototype;
const writable: globalThis.WritableStream = NativeWritableStream.prototype;

/** The runtime's own `ReadableStream.prototype.getReader`. */
export const nativeGetReader: globalThis.ReadableStream["getReader"] = readable.getReader;
/** The runtime's own `ReadableStream.prototype.pipeThrough`. */
export const nativePipeThrough: globalThis.ReadableStream["pipeThrough"] = readable.pipeThrough;
/** The runtime's own `ReadableStream.prototype.pipeTo`. */
export const nativePipeTo: globalThis.ReadableStream["pipeTo"] = readable.pipeTo;
/** The runtime's own `WritableStream.prototype.getWriter`. */
export const nativeGetWriter: globalThis.WritableStream["getWriter"] = writable.getWriter;

const readableLocked = Object.getOwnPropertyDescriptor(readable, "locked")!.get!;
const writableLocked = Object.getOwnPropertyDescriptor(writable, "locked")!.get!;

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
  return hasBrand(readableLocked, value);
}

/** Whether the runtime takes a value for its own WritableStream, as it does with ours. */
export function isNativeWritableStream(value: unknown): value is globalThis.WritableStream {
  return hasBrand(writableLocked, value);
}

function hasBrand(locked: () => boolean, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  try {
    locked.call(value);
    return true;
  } catch {
    return false;
  }
}
