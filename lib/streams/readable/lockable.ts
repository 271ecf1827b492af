import { lockedError, mustBe } from "../errors.ts";
import type { ReadableStreamState } from "./stream_state.ts";

/**
 * How the state of a public stream is found; the class sets it, so that what works on states need not import the class.
 */
interface Access {
  /** The state behind one of our streams; `undefined` for anything else. */
  stateOf(stream: unknown): ReadableStreamState | undefined;
  /** Makes one of our streams ready to be locked; returns whether it may be. */
  lock(stream: object): boolean;
}

let access: Access = { stateOf: () => undefined, lock: () => false };

/** Called once, by the ReadableStream class. */
export function defineReadableStreamAccess(given: Access): void {
  access = given;
}

/** The state behind one of our streams; `undefined` for anything else. */
export function readableStreamStateOf(stream: unknown): ReadableStreamState | undefined {
  return access.stateOf(stream);
}

/**
 * The state behind a stream that a reader is about to lock.
 *
 * @throws {TypeError} if it is no stream of ours, or locked, by a reader or by the runtime.
 */
export function lockableReadableStream(stream: unknown): ReadableStreamState {
  const state = access.stateOf(stream);
  if (state === undefined) throw mustBe("the stream", "a ReadableStream of @millrace/streams");
  if (!access.lock(stream as object)) throw lockedError("get a reader");
  return state;
}

/** Makes one of our streams ready to be locked by a pipe; returns whether it may be. */
export function lockForPipe(stream: object): boolean {
  return access.lock(stream);
}
