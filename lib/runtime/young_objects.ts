import process from "node:process";

/** Below this, other work makes enough objects. */
const LARGE = 16 * 1024;
/** The most bytes that count: a quarter of it is kept until the next call. */
const MOST = 256 * 1024;

/** Here, so that no compiler leaves it out. */
const kept: unknown[] = [undefined];

/**
 * Has the memory of large chunks freed in time. V8 frees it together with the young objects that have it, and looks for these after so many
 * bytes of objects. Who only reads large chunks makes hardly any, and V8 marks its whole heap instead, as it counts the chunks' memory to that:
 * 83 times for 2 GB, half of all CPU time. Arrays for nothing bring the cheap collection soon enough: 0.6 s of CPU a GB instead of 1.1 on
 * Node, and 120 MB of memory instead of 160.
 *
 * @param bytes How many were received in new memory.
 */
export const makeYoungObjects: (bytes: number) => void = process.versions.bun ? () => {} : (bytes) => {
  if (bytes >= LARGE) kept[0] = new Array(Math.min(bytes, MOST) >> 5);
};
