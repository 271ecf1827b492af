/**
 * The replacement of `node_interop.ts` in browsers: nobody asks there.
 *
 * @module
 */

/** Does nothing. */
export function adoptOwnClosedPromise(): void {}

/** Does nothing. */
export function answerNode(): void {}

/** Does nothing. */
export function closeIfEmpty(): void {}
