/**
 * Arrays for chunks that come many at once. Where the chunks are numbers, whoever is done with them last gives the array
 * back for others: an object in it would be kept alive, a number is not. Without that, a hundred million numbers leave a
 * gigabyte of garbage, for which V8 makes its young generation as large as it can.
 *
 * @module
 */

/** The length of each array. */
export const RUN_LENGTH = 2048;

/** At most 512 KiB. */
const MOST_SPARE = 32;
const spare: unknown[][] = [];

/** An array of {@linkcode RUN_LENGTH} to fill; what it holds at first is nothing, or old numbers. */
export function takeRun(): unknown[] {
  return spare.pop() ?? new Array<unknown>(RUN_LENGTH);
}

/** Gives back an array of nothing but numbers that nobody uses any longer. */
export function giveBackNumberRun(run: number[]): void {
  if (run.length === RUN_LENGTH && spare.length < MOST_SPARE) spare.push(run);
}
