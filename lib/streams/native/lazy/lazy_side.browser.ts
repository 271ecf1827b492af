// The replacement of `lazy_side.ts` in browsers, whose internal slots of a stream only a constructor can make.
// Minifiers drop functions without steps, and all that they would be called with.

export { ReadableFeed as EagerFeed } from "../feeds/readable_feed.ts";
export { WritableFeed as EagerSink } from "../feeds/writable_feed.ts";

// Every native side and lock is made at once, shown and released by the runtime, and stays open.
export function makeNativeSideLazily(): void {}
export function makeLockLazily(): void {}
export function staysLazy(): void {}
export function closeEndedSide(): void {}
export function findStates(): void {}

// Never called, or made.
export function withEndsOf(): void {}
export function lightSideOf(): void {}
export class WatchedReadableFeed {}
export class WatchedWritableFeed {}

// Nothing asks as `node:stream` does.
export function adoptOwnClosedPromise(): void {}
export function answerNode(): void {}
export function closeIfEmpty(): void {}
