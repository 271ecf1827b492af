/** Numbers of a burst: the number that a source has ready at each pull. */
const BURST = 64;

/** Returns a source of `count` numbers of 8 digits, for this package's streams and native ones. */
export function numberSource(count: number): UnderlyingDefaultSource<number> {
  let next = 0;
  return {
    pull(controller): void {
      for (const end = Math.min(next + BURST, count); next < end; next++) controller.enqueue(numberAt(next));
      if (next === count) controller.close();
    },
  };
}

/** The length in bytes of each line of numbers. */
export const LINE_LENGTH = 9;

function numberAt(index: number): number {
  return 10_000_000 + (Math.imul(index, 7919) >>> 0) % 10_000_000 * 4;
}
