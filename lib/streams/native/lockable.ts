import { lockedError } from "../language/errors.ts";
import { isNativeReadableStreamLocked, isNativeWritableStreamLocked } from "../language/native_classes.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import type { WritableStreamState } from "../writable/stream_state.ts";
import { releaseIdleLock } from "./native_locks.ts";
import { FeedReaderState, releaseReadableFeed } from "./feeds/readable_feed.ts";
import { FeedWriterState, releaseWritableFeed } from "./feeds/writable_feed.ts";

type StateOf<State> = (stream: unknown) => State | undefined;

/** The state behind one of our streams; `undefined` for anything else. */
export let readableStreamStateOf: StateOf<ReadableStreamState>;

/** Called once, by the ReadableStream class, so that what works on states need not import it. */
export function setReadableStreamStateOf(stateOf: StateOf<ReadableStreamState>): void {
  readableStreamStateOf = stateOf;
}

/** IsReadableStreamLocked: by a reader, a pipe or the runtime, but for our own reader that feeds the native side. */
export function isReadableStreamLocked(stream: ReadableStreamState): boolean {
  const { idleLock, nativeSide, reader, transferSide } = stream;
  return (reader !== undefined && !(reader instanceof FeedReaderState)) ||
    (nativeSide !== undefined && idleLock === undefined && isNativeReadableStreamLocked(nativeSide)) ||
    (transferSide !== undefined && isNativeReadableStreamLocked(transferSide));
}

/** Makes a stream ready to be locked. @throws {TypeError} if it is locked. */
export function checkReadableStreamFree(stream: ReadableStreamState, action: string): void {
  if (isReadableStreamLocked(stream)) throw lockedError(action);
  releaseIdleLock(stream);
  releaseReadableFeed(stream);
}

export let writableStreamStateOf: StateOf<WritableStreamState>;

/** Called once, by the WritableStream class. */
export function setWritableStreamStateOf(stateOf: StateOf<WritableStreamState>): void {
  writableStreamStateOf = stateOf;
}

/** IsWritableStreamLocked: by a writer, a pipe or the runtime, but for our own writer that feeds the native side. */
export function isWritableStreamLocked(stream: WritableStreamState): boolean {
  const { idleLock, nativeSide, transferSide, writer } = stream;
  return (writer !== undefined && !(writer instanceof FeedWriterState)) ||
    (nativeSide !== undefined && idleLock === undefined && isNativeWritableStreamLocked(nativeSide)) ||
    (transferSide !== undefined && isNativeWritableStreamLocked(transferSide));
}

/** Makes a stream ready to be locked. @throws {TypeError} if it is locked. */
export function checkWritableStreamFree(stream: WritableStreamState, action: string): void {
  if (isWritableStreamLocked(stream)) throw lockedError(action);
  releaseIdleLock(stream);
  releaseWritableFeed(stream);
}
