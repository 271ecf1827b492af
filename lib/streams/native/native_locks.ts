import { hasReadMany, isTunedToBun } from "#streams/host";
import { nativeByobReader, NativeReadableStreamBYOBReader, nativeReader } from "../language/native_classes.ts";
import { markAsHandled } from "../language/promises.ts";

/*
 * Some runtimes keep the state of streams in internal slots, which only locks and reads can change. The native side of a
 * stream is therefore locked whenever the stream is locked, and read once to become disturbed. The feed does not answer
 * that read, so that it has no other effect.
 */

/** A lock of a native stream: a reader or a writer. */
export interface NativeLock {
  releaseLock(): void;
}

/** The members of a stream that its native side's lock needs. */
export interface LockedStream {
  readonly shell: object | undefined;
  readonly nativeSide: object | undefined;
  readonly disturbed?: boolean;
  /** The native end of a transform stream, which replaces this stream when the pair is transferred. */
  readonly transferSide: object | undefined;
  /** The lock that has read the native side, or stays on it; it gives the runtime no access to chunks. */
  idleLock: NativeLock | undefined;
}

/** The members of a reader or a writer that its native side needs. */
export interface LockState {
  readonly stream: LockedStream | undefined;
  /** Whether user code has the reader or writer, so that the runtime may use it. */
  readonly isPublic: boolean;
  /** The lock of the native side: the public object, or a stand-in for it if a pipe or an iterator has locked the stream. */
  nativeSide: NativeLock | undefined;
  /** The lock of the stream's `transferSide`. */
  transferLock?: NativeLock | undefined;
  /** Locks a native side; returns undefined if the feed has locked it already. */
  lockNative(side: object): NativeLock | undefined;
}

/** Locks the native side of a locked stream, if the side exists and the public object does not lock it. */
export function lockSide(state: LockState): void {
  const stream = state.stream!;
  if (stream.transferSide !== undefined) state.transferLock = state.lockNative(stream.transferSide);
  if (stream.nativeSide === undefined || state.nativeSide !== undefined) return;
  releaseIdleLock(stream);
  state.nativeSide = state.lockNative(stream.nativeSide);
}

/** Releases the lock of a native side, unless it is a public object. If the stream has closed and releasing is slow, the lock stays. */
export function releaseSide(state: LockState, stream: LockedStream, mayKeep: boolean): void {
  const { isPublic, nativeSide, transferLock } = state;
  transferLock?.releaseLock();
  if (nativeSide === undefined) return;
  if (stream.nativeSide === stream.shell) {
    if (isTunedToBun && mayKeep && !isPublic) {
      stream.idleLock = nativeSide;
      return;
    }
    if (hasReadMany && stream.disturbed) readIdly(stream, nativeSide);
    stream.idleLock = undefined;
    if (isPublic) return;
  }
  nativeSide.releaseLock();
}

/** Releases the lock that stayed on a native side. */
export function releaseIdleLock(stream: LockedStream): void {
  stream.idleLock?.releaseLock();
  stream.idleLock = undefined;
}

/** Reads with a lock of the native side, which thereby becomes disturbed. */
export function readIdly(stream: LockedStream, lock: NativeLock): void {
  stream.idleLock = lock;
  const read = lock instanceof NativeReadableStreamBYOBReader
    ? nativeByobReader.read.call(lock, new Uint8Array(1))
    : nativeReader.read.call(lock as globalThis.ReadableStreamDefaultReader);
  markAsHandled(read);
}
