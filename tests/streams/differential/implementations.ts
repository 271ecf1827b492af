import * as polyfilled from "web-streams-polyfill";

/** The classes that a program runs against. */
export interface StreamClasses {
  readonly ReadableStream: typeof globalThis.ReadableStream;
  readonly WritableStream: typeof globalThis.WritableStream;
  readonly TransformStream: typeof globalThis.TransformStream;
  /** Pipes in place of the source's own methods. */
  readonly pipeTo?: PipeTo;
  readonly pipeThrough?: PipeThrough;
  /**
   * Whether the reading of options and of what else a caller passes is an event. Not where Node's classes take part:
   * they read members in an order of their own.
   */
  readonly readsAreEvents?: boolean;
  /** Replaces a callback's result before the classes receive it. */
  readonly returned?: (callback: string, result: unknown) => unknown;
}

export type PipeTo = (
  source: ReadableStream,
  destination: WritableStream,
  options?: StreamPipeOptions,
) => Promise<void>;

export type PipeThrough = (
  source: ReadableStream,
  transform: ReadableWritablePair,
  options?: StreamPipeOptions,
) => ReadableStream;

/** The runtime's own. */
export const native: StreamClasses = {
  ReadableStream: globalThis.ReadableStream,
  WritableStream: globalThis.WritableStream,
  TransformStream: globalThis.TransformStream,
};

/**
 * A transcription of the standard's reference implementation: it decides which implementation is right where the others
 * differ.
 */
export const reference: StreamClasses = { ...polyfilled, readsAreEvents: true } as unknown as StreamClasses;

/**
 * Ours, given a new promise for each one that pull(), write() or transform() returns. What a callback returns is taken
 * as it is by some and resolves a new promise, two microtasks later, with others. Ours and Node do the first for the
 * callbacks that come with each chunk and the second for all others, the reference does the second for all.
 */
export function asReferenceAwaits(classes: StreamClasses): StreamClasses {
  const returned = (callback: string, result: unknown): unknown =>
    typeof result === "object" && result !== null && ["pull", "write", "transform"].includes(callback)
      ? new Promise((resolve) => resolve(result))
      : result;
  return { ...classes, returned, readsAreEvents: true };
}
