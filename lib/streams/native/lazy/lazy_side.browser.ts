// The counterpart of `lazy_side.ts` for browsers, where only a constructor can make the internal slots of a stream.
// Minifiers drop functions without steps, and the arguments of their calls.

// The watched class has no objects: only sides made at first use are watched.
export {
  NativeReadableSource as EagerFeed,
  NativeReadableSource as WatchedReadableFeed,
} from "../feeds/readable_feed.ts";

// Does nothing: in browsers each native side and lock is made with its stream.
export function makeNativeSideLazily(): void {}
export function makeLockLazily(): void {}
export function staysLazy(): void {}
export function findStates(): void {}
// Has no result: browsers show no slots of a stream.
export function isNativeClosing(): void {}

// Never called.
export function withEndsOf(): void {}
export function endedSideOf(): void {}
export function lightSideOf(): void {}

// Does nothing: browsers have no `node:stream`.
export function adoptOwnClosedPromise(): void {}
export function answerNode(): void {}
export function closeIfEmpty(): void {}
