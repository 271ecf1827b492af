import type { LineEnds } from "./line_ends.ts";

const LF = 10;
const CR = 13;

/**
 * Returns the offset of the first line longer than `limit` bytes, its ending not counted; -1 if none is. The bytes end
 * where a line does.
 *
 * Only the last end within each window of the limit's size is looked for: no line before it can be too long.
 */
export function startOfLongLine(bytes: Uint8Array, limit: number, ends: LineEnds): number {
  let start = 0;
  while (bytes.length - start > limit) {
    const end = lastEndWithin(bytes.subarray(start, start + limit + 2), limit, bytes.length - start, ends);
    if (end === 0) return start;
    start += end;
  }
  return -1;
}

/** The offset behind the last end in a window, of a line that is not too long; 0 if there is none. */
function lastEndWithin(window: Uint8Array, limit: number, rest: number, ends: LineEnds): number {
  const end = rest === window.length ? rest : ends.last(window);
  if (end <= limit + 1) return end;
  const endsWithLF = window[limit + 1] === LF;
  if (endsWithLF && window[limit] === CR) return end;
  return ends.last(endsWithLF ? window.subarray(0, limit + 1) : window);
}
