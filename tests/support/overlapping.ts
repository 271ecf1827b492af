import test from "node:test";

/** A test's body. */
type Run = () => void | Promise<void>;

/** A `test()` of `node:test`, with a name, a reason to skip it, and a body without hooks. */
export interface OverlappingTest {
  (name: string, run: Run): void;
  (name: string, options: { readonly skip?: boolean | string }, run: Run): void;
}

/**
 * Makes a `test()` for cases that wait more than they compute and share nothing. They are reported one by one, as all
 * tests are, but begin in the first one's time, up to `most` at once.
 */
export function overlapping(most = 8): OverlappingTest {
  const waiting: (() => Promise<void>)[] = [];
  let lanes = 0;
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
  };
  return (name: string, ...rest: [Run] | [{ readonly skip?: boolean | string }, Run]) => {
    const run = rest.at(-1) as Run;
    const options = rest.length === 2 ? rest[0] : {};
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    ended.catch(() => {}); // it is reported later
    if (!options.skip) waiting.push(async () => await Promise.resolve().then(run).then(resolve, reject));
    test(name, options, () => {
      while (lanes < most && waiting.length > 0) {
        lanes++;
        void lane();
      }
      return ended;
    });
  };
}
