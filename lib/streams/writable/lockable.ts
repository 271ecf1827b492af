import { lockedError } from "../language/errors.ts";
import { isNativeWritableStreamLocked } from "../language/native_classes.ts";
import { FeedWriterState, releaseWritableFeed } from "../native/feeds/writable_feed.ts";
import type { WritableStreamState } from "./stream_state.ts";

type StateOf = (stream: unknown) => WritableStreamState | undefined;

/** The state behind one of our streams; `undefined` for anything else. */
export let writableStreamStateOf: StateOf;

/** Called once, by the WritableStream class, so that what works on states need not import it. */
export function setWritableStreamStateOf(stateOf: StateOf): void {
  writableStreamStateOf = stateOf;
}

/** IsWritableStreamLocked: by a writer, a pipe or the runtime, but for our own writer that feeds the native side. */
export function isWritableStreamLocked({ writer, nativeSide }: WritableStreamState): boolean {
  return (writer !== undefined && !(writer instanceof FeedWriterState)) ||
    (nativeSide !== undefined && isNativeWritableStreamLocked(nativeSide));
}

/**
 * Makes a stream ready to be locked.
 *
 * @throws {TypeError} if it is locked.
 */
export function checkWritableStreamFree(stream: WritableStreamState, action: string): void {
  if (isWritableStreamLocked(stream)) throw lockedError(action);
  releaseWritableFeed(stream);
}
