import { mustBe } from "../errors.ts";
import { isNativeReadableStream, isNativeWritableStream } from "../native/native_classes.ts";
import { NativeReadableEnd } from "../native/readable_end.ts";
import { NativeWritableEnd } from "../native/writable_end.ts";
import { lockForPipe as lockReadable, readableStreamStateOf } from "../readable/lockable.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { toDictionary } from "../webidl.ts";
import { lockForPipe as lockWritable, writableStreamStateOf } from "../writable/lockable.ts";
import type { WritableStreamState } from "../writable/stream_state.ts";

/** A stream that a pipe reads from: one of ours, or one of the runtime's behind a state that stands for it. */
export interface ReadableEnd {
  /** Whether it is the runtime's: then the state may be a microtask late. */
  readonly isNative: boolean;
  /** Whether it is free to be locked by the pipe. */
  isFree(): boolean;
  /** Locks it. */
  acquire(): ReadableStreamState;
  /** Unlocks what `acquire()` locked beyond the state. */
  release(): void;
}

/** A stream that a pipe writes to. */
export interface WritableEnd {
  readonly isNative: boolean;
  isFree(): boolean;
  acquire(writes: PendingWrites): WritableStreamState;
  /** Brings the state up to date, as far as the stream tells without a promise. */
  refresh(): void;
  release(): void;
}

/** What counts the writes of a pipe that have not settled. */
export interface PendingWrites {
  begin(): void;
  resolve(): void;
}

class OwnReadableEnd implements ReadableEnd {
  readonly isNative = false;
  readonly #stream: object;
  readonly #state: ReadableStreamState;
  constructor(stream: object, state: ReadableStreamState) {
    this.#stream = stream;
    this.#state = state;
  }
  isFree(): boolean {
    return lockReadable(this.#stream);
  }
  acquire(): ReadableStreamState {
    return this.#state;
  }
  release(): void {}
}

class OwnWritableEnd implements WritableEnd {
  readonly isNative = false;
  readonly #stream: object;
  readonly #state: WritableStreamState;
  constructor(stream: object, state: WritableStreamState) {
    this.#stream = stream;
    this.#state = state;
  }
  isFree(): boolean {
    return lockWritable(this.#stream);
  }
  acquire(): WritableStreamState {
    return this.#state;
  }
  refresh(): void {}
  release(): void {}
}

/**
 * The stream that a pipe is to read from.
 *
 * @throws {TypeError} if it is no ReadableStream, of ours or the runtime's.
 */
export function toReadableEnd(value: unknown, name: string): ReadableEnd {
  const state = readableStreamStateOf(value);
  if (state !== undefined) return new OwnReadableEnd(value as object, state);
  if (isNativeReadableStream(value)) return new NativeReadableEnd(value);
  throw mustBe(name, "a ReadableStream");
}

/**
 * The stream that a pipe is to write to.
 *
 * @throws {TypeError} if it is no WritableStream, of ours or the runtime's.
 */
export function toWritableEnd(value: unknown, name: string): WritableEnd {
  const state = writableStreamStateOf(value);
  if (state !== undefined) return new OwnWritableEnd(value as object, state);
  if (isNativeWritableStream(value)) return new NativeWritableEnd(value);
  throw mustBe(name, "a WritableStream");
}

/**
 * Converts a ReadableWritablePair, reading its members in the order of their names.
 *
 * @throws {TypeError} if it is no object with a `readable` and a `writable` stream.
 */
export function toPipeTransform(value: unknown): { readable: object; writable: object; writableEnd: WritableEnd } {
  const pair = toDictionary(value, "the transform");
  const readable = pair?.readable;
  if (readableStreamStateOf(readable) === undefined && !isNativeReadableStream(readable)) {
    throw mustBe("the transform's readable", "a ReadableStream");
  }
  const writable = pair?.writable;
  return {
    readable: readable as object,
    writable: writable as object,
    writableEnd: toWritableEnd(writable, "the transform's writable"),
  };
}
