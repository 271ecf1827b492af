/** The stream classes that a test's body is run with. */
export interface StreamClasses {
  readonly ReadableStream: typeof globalThis.ReadableStream;
  readonly WritableStream: typeof globalThis.WritableStream;
  readonly TransformStream: typeof globalThis.TransformStream;
}

/** The runtime's own classes, kept from before anything could replace the globals. */
export const native: StreamClasses = {
  ReadableStream: globalThis.ReadableStream,
  WritableStream: globalThis.WritableStream,
  TransformStream: globalThis.TransformStream,
};

class ReadableStream<R> extends globalThis.ReadableStream<R> {}
class WritableStream<W> extends globalThis.WritableStream<W> {}
class TransformStream<I, O> extends globalThis.TransformStream<I, O> {}

/** Ours, not installed as globals. */
export const ours: StreamClasses = {
  ReadableStream,
  WritableStream,
  TransformStream,
} as unknown as StreamClasses;
