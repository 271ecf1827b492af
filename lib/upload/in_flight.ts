/** Bytes that all uploads of the process may hold at a time, apart from the least that each needs. */
const BUDGET = 32 * 1024 * 1024;
/** Most bytes of one write: larger ones do not take less time. */
const MOST = 256 * 1024;
/** Fewest bytes to gather: what a socket gives at once. */
const LEAST = 64 * 1024;

let uploads = 0;

/** An upload begins to hold bytes; returns what to call, once, when it has ended. */
export function holdBytes(): void {
  uploads++;
}

/** An upload holds nothing any more. */
export function releaseBytes(): void {
  uploads--;
}

/**
 * How many bytes an upload may gather while it writes as many: a fair share, so that memory does not grow with the
 * number of uploads, and few uploads get large writes.
 */
export function gatherLimit(): number {
  return Math.min(MOST, Math.max(LEAST, BUDGET / uploads / 2));
}
