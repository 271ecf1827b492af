/**
 * What takes the place of `node_interop.ts` in browsers: nobody asks there.
 *
 * @module
 */

/** Leaves an error as it is. */
export function invalidStateError(error: TypeError): TypeError {
  return error;
}

/** Does nothing. */
export function adoptOwnClosedPromise(): void {}

/** Does nothing. */
export function answerNode(): void {}
