// The counterpart of `lazy_side.ts` for browsers, where only a constructor can make the internal slots of a stream.
// Minifiers drop functions without steps, and the arguments of their calls.

export { NativeReadableSource as EagerFeed } from "../feeds/readable_feed.ts";
export { NativeWritableSink as EagerSink } from "../feeds/writable_feed.ts";

// Does nothing: in browsers each native side and lock is made with its stream.
export function makeNativeSideLazily(): void {}
export function makeLockLazily(): void {}
export function staysLazy(): void {}
export function closeEndedSide(): void {}
export function findStates(): void {}

// Never called, and has no objects.
export function withEndsOf(): void {}
export function lightSideOf(): void {}
export class WatchedReadableFeed {}
export class WatchedWritableFeed {}

// Does nothing: browsers have no `node:stream`.
export function adoptOwnClosedPromise(): void {}
export function answerNode(): void {}
export function closeIfEmpty(): void {}
