import process from "node:process";

/** The time limit of a wait in tests, in ms, also on a busy machine. Wine takes three times as long. */
export const LIMIT: number = process.platform === "win32" ? 180_000 : 60_000;

/** Waits, in ms. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits for the event loop's current turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns the value of a promise; rejects if it takes longer than `limit`. */
export async function within<T>(promise: Promise<T>, what: string, limit: number = LIMIT): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a condition holds, or a time limit passes: the test then reports the fault itself. */
export async function atLast(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !await condition() && performance.now() - start < LIMIT;) await pause(5);
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const start = performance.now();
  while (!await condition()) {
    if (performance.now() - start > LIMIT) throw new Error(`${what}: not within ${LIMIT} ms`);
    await pause(2);
  }
}
