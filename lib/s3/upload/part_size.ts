/** Most parts of an upload. */
export const MOST_PARTS = 10_000;
/** Bytes of the first parts. */
export const FIRST_SIZE: number = 8 * 1024 * 1024;
/** Least bytes of any part but the last. */
export const LEAST_SIZE: number = 5 * 1024 * 1024;
/** How many parts have one size: the next ones have twice as much, so that 10,000 make 8 TiB, where 5 are allowed. */
const RUN = 1000;

/** How many bytes the part of a number has, from 1 on, unless it is the last. */
export function partSize(number: number): number {
  return FIRST_SIZE * 2 ** Math.floor((number - 1) / RUN);
}
