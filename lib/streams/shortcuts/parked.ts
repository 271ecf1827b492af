/**
 * What an algorithm of ours returns where a user's would return a promise: it is not finished, and whoever returned
 * this says so with a call when it is. No promise is made.
 */
export const PARKED: unique symbol = Symbol("parked");
