import { webStream } from "#streams/host";
import { mustBe } from "../language/errors.ts";
import { isNativeReadableStream, isNativeWritableStream } from "../language/native_classes.ts";
import { NativeReadableEnd, NativeWritableEnd } from "../native/ends/native_ends.ts";
import { checkReadableStreamFree, readableStreamStateOf } from "../native/feeds/readable_feed.ts";
import { checkWritableStreamFree, writableStreamStateOf } from "../native/feeds/writable_feed.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { toDictionary } from "../language/webidl.ts";
import type { WritableStreamState } from "../writable/stream_state.ts";

/** The source of a pipe: a stream of this package, or a native one behind a state. */
export interface ReadableEnd {
  /** Whether the stream is native: its state may then be a microtask late. */
  readonly isNative: boolean;
  /** Prepares the stream for the pipe's lock. @throws {TypeError} if it is locked. */
  checkFree(): void;
  acquire(): ReadableStreamState;
  /** Releases the locks of `acquire()`, except that of the state. */
  release(): void;
}

/** The destination of a pipe: a stream of this package, or a native one behind a state. */
export interface WritableEnd {
  readonly isNative: boolean;
  checkFree(): void;
  acquire(writes: PendingWrites): WritableStreamState;
  /** Updates the state, as far as a native stream shows its own without a promise. */
  refresh(): void;
  release(): void;
}

/** A counter of the unsettled writes of a pipe. */
export interface PendingWrites {
  begin(): void;
  written(): void;
  /** Ends a write that has failed. */
  resolve(): void;
}

class OwnReadableEnd implements ReadableEnd {
  readonly isNative = false;
  readonly #state: ReadableStreamState;
  constructor(state: ReadableStreamState) {
    this.#state = state;
  }
  checkFree(): void {
    checkReadableStreamFree(this.#state, "pipe from it");
  }
  acquire(): ReadableStreamState {
    return this.#state;
  }
  release(): void {}
}

class OwnWritableEnd implements WritableEnd {
  readonly isNative = false;
  readonly #state: WritableStreamState;
  constructor(state: WritableStreamState) {
    this.#state = state;
  }
  checkFree(): void {
    checkWritableStreamFree(this.#state, "pipe to it");
  }
  acquire(): WritableStreamState {
    return this.#state;
  }
  refresh(): void {}
  release(): void {}
}

/** Returns the source of a pipe. @throws {TypeError} if the value is not a ReadableStream of this package or a native one. */
export function toReadableEnd(value: unknown, name: string): ReadableEnd {
  const state = readableStreamStateOf(value);
  if (state !== undefined) return new OwnReadableEnd(state);
  if (isNativeReadableStream(value)) return new NativeReadableEnd(value);
  throw mustBe(name, webStream(value, "Readable"));
}

/** Returns the destination of a pipe. @throws {TypeError} if the value is not a WritableStream of this package or a native one. */
export function toWritableEnd(value: unknown, name: string): WritableEnd {
  const state = writableStreamStateOf(value);
  if (state !== undefined) return new OwnWritableEnd(state);
  if (isNativeWritableStream(value)) return new NativeWritableEnd(value);
  throw mustBe(name, webStream(value, "Writable"));
}

/** Converts a ReadableWritablePair in the order of its members' names; throws a TypeError if that is impossible. */
export function toPipeTransform(
  value: unknown,
): { readable: object; writable: object; writableEnd: WritableEnd } {
  const pair = toDictionary(value, "the transform");
  const { readable } = pair;
  // The second check would make the native side of a stream of this package, which every later lock would also lock.
  if (readableStreamStateOf(readable) === undefined && !isNativeReadableStream(readable)) {
    throw mustBe("the transform's readable", webStream(readable, "Readable"));
  }
  const writable = pair.writable as object;
  const writableEnd = toWritableEnd(writable, "the transform's writable");
  return { readable: readable as object, writable, writableEnd };
}
