/** Pages, which share samples with the tests, have no environment. */
const { process } = globalThis as { process?: { env: Record<string, string | undefined> } };

/** Whether this is `npm run test:long`, which takes every count as it stands. */
export const isLong: boolean = process?.env.MILLRACE_LONG === "1";

/** How many of `count` random cases to try: a quarter of them, or all in a long run. */
export function tries(count: number): number {
  return isLong ? count : Math.ceil(count / 4);
}
