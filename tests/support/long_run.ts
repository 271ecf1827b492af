/** Pages, which share samples with the tests, have no environment. */
const { process } = globalThis as {
  process?: Record<"env" | "versions", Record<string, string | undefined>>;
};

/** Whether this is `npm run test:long`, which takes every count as it stands. */
export const isLong: boolean = process?.env.MILLRACE_LONG === "1";

/** Node tries most, as other runtimes run the same code with cases of their own. */
const SHARE = process?.versions.bun || process?.versions.deno ? 12 : 6;

/** Returns the number of random cases to try of `count`: some of them, or all in a long run. */
export function tries(count: number): number {
  return isLong ? count : Math.ceil(count / SHARE);
}
