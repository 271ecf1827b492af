import { lockedError } from "../language/errors.ts";
import { isNativeReadableStreamLocked } from "../language/native_classes.ts";
import { FeedReaderState, releaseReadableFeed } from "../native/feeds/readable_feed.ts";
import type { ReadableStreamState } from "./stream_state.ts";

type StateOf = (stream: unknown) => ReadableStreamState | undefined;

/** The state behind one of our streams; `undefined` for anything else. */
export let readableStreamStateOf: StateOf;

/** Called once, by the ReadableStream class, so that what works on states need not import it. */
export function setReadableStreamStateOf(stateOf: StateOf): void {
  readableStreamStateOf = stateOf;
}

/** IsReadableStreamLocked: by a reader, a pipe or the runtime, but for our own reader that feeds the native side. */
export function isReadableStreamLocked({ reader, nativeSide }: ReadableStreamState): boolean {
  return (reader !== undefined && !(reader instanceof FeedReaderState)) ||
    (nativeSide !== undefined && isNativeReadableStreamLocked(nativeSide));
}

/**
 * Makes a stream ready to be locked.
 *
 * @throws {TypeError} if it is locked.
 */
export function checkReadableStreamFree(stream: ReadableStreamState, action: string): void {
  if (isReadableStreamLocked(stream)) throw lockedError(action);
  releaseReadableFeed(stream);
}
