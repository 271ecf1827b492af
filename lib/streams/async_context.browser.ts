/**
 * The stand-in for `async_context.ts` in browsers, which have no asynchronous contexts.
 *
 * @module
 */

/** The context that is current: always the same. */
export function currentContext(): undefined {}
