/** Most bytes that an upload holds: larger writes than half of that do not take less time. */
const MOST = 512 * 1024;
/** Fewest bytes: what a socket gives at once. */
const LEAST = 64 * 1024;

let bodies = 0;

/** A body begins to hold bytes. */
export function holdBytes(): void {
  bodies++;
}

/** A body that held bytes does not any more. */
export function releaseBytes(): void {
  bodies--;
}

/** How many bodies are being received. */
export function activeBodies(): number {
  return bodies;
}

/**
 * How many bytes a body may hold, gathered and being written together: its share of `budget`, so that memory hardly
 * grows with the number of uploads, and few uploads get large writes.
 */
export function windowOf(budget: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(budget / bodies)));
}
