import { ReadableStream, TransformStream, WritableStream } from "../../lib/streams/mod.ts";

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

/** Ours, not installed as globals. */
export const ours: StreamClasses = { ReadableStream, WritableStream, TransformStream } as unknown as StreamClasses;
