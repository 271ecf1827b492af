/** Most bytes of one write: larger ones do not take less time. */
const MOST = 256 * 1024;
/** Fewest bytes to gather: what a socket gives at once. */
const LEAST = 64 * 1024;

let uploads = 0;

/** An upload begins to hold bytes. */
export function holdBytes(): void {
  uploads++;
}

/** An upload that held bytes does not any more. */
export function releaseBytes(): void {
  uploads--;
}

/**
 * How many bytes an upload may gather while it writes as many: half of its share of `budget`, so that memory hardly
 * grows with the number of uploads, and few uploads get large writes.
 */
export function shareOf(budget: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(budget / uploads / 2)));
}

/** How many bytes an upload may hold, gathered and being written together: its share of `budget`. */
export function windowOf(budget: number): number {
  return Math.min(2 * MOST, Math.max(LEAST, Math.floor(budget / uploads)));
}

/** How many bodies are being received. */
export function activeBodies(): number {
  return uploads;
}
