/**
 * The replacement of `lazy_side.ts` in browsers: they keep what they know of a stream in internal slots, which a
 * constructor alone can make. Functions without steps go with all that they would be given when a page is made.
 *
 * @module
 */

export { ReadableFeed as EagerFeed } from "../feeds/readable_feed.ts";

/** Is never called. */
export function withEndsOf(): void {}

/** Makes every native side at once. */
export function makeNativeSideLazily(): void {}

/** Makes every native side all the same: pages transfer transform streams. */
export function goWithoutNativeSide(): void {}

/** The runtime shows them. */
export function showWithoutNativeSide(): void {}

/** Nothing is told of ends that nobody has looked at. */
export function setTransformStateOf(): void {}

/** Every end has an object. */
export function unseenWritableEnd(): void {}

/** Makes every lock's at once. */
export function makeLockLazily(): void {}

/** Leaves that to `super.releaseLock()`. */
export function unlockLazily(): void {}

/** Is never called. */
export function lockNewSide(): void {}

/** Is never called. */
export function lightSideOf(): void {}

/** Is never made. */
export class WatchedReadableFeed {}

/** The same. */
export class WatchedWritableFeed {}

/** Leaves every side open. */
export function closeEndedSide(): void {}

/** Nothing was put in the place of a global. */
export function putBack(): void {}

/** Nobody looks for them. */
export function findStates(): void {}
