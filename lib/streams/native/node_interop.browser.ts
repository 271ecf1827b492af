/**
 * The replacement of `node_interop.ts` in browsers: nobody asks there.
 *
 * @module
 */

export function adoptOwnClosedPromise(): void {}
export function answerNode(): void {}
export function closeIfEmpty(): void {}
