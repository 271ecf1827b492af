/**
 * The result of an algorithm of ours that is not finished, where a user's would return a promise: the algorithm reports
 * its end with a call. No promise is made.
 */
export const PARKED: unique symbol = Symbol("parked");
