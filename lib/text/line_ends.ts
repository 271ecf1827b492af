const LF = 10;
const CR = 13;

/** The line endings to split at, and the ways to find them. */
export interface LineEnds {
  /** Returns the offset behind the first line ending in `bytes`, or -1. `isAfterCR`: the byte before `bytes` was a CR. */
  first(bytes: Uint8Array, isAfterCR: boolean): number;
  /** Returns the offset behind the last line ending in `bytes`, or 0. */
  last(bytes: Uint8Array): number;
  /** Returns the offset behind the last line ending in a text that another text follows, or 0. */
  lastInText(text: string): number;
  /** Splits a text that ends with a line ending into its lines. */
  cut(text: string): string[];
}

/** LF, with or without a CR before it. */
export const LF_ENDS: LineEnds = {
  first: (bytes) => bytes.indexOf(LF) + 1 || -1,
  last: (bytes) => bytes.lastIndexOf(LF) + 1,
  lastInText: (text) => text.lastIndexOf("\n") + 1,

  cut(text: string): string[] {
    const lines = text.split("\n"); // engines know this case: a fifth faster than a loop of indexOf() and slice()
    lines.pop(); // the empty text behind the last line ending
    return text.includes("\r") ? lines.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line) : lines;
  },
};

/** LF, CRLF and CR. A CR at the end of the bytes does not count yet: an LF may follow. */
export const LF_OR_CR_ENDS: LineEnds = {
  first(bytes: Uint8Array, isAfterCR: boolean): number {
    if (bytes.length === 0) return -1;
    if (isAfterCR) return bytes[0] === LF ? 1 : 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] === LF) return i + 1;
      if (bytes[i] !== CR) continue;
      if (i === bytes.length - 1) return -1;
      return bytes[i + 1] === LF ? i + 2 : i + 1;
    }
    return -1;
  },

  last(bytes: Uint8Array): number {
    for (let i = bytes.length - 1; i >= 0; i--) {
      if (bytes[i] === LF || (bytes[i] === CR && i < bytes.length - 1)) return i + 1;
    }
    return 0;
  },

  lastInText(text: string): number {
    const lf = text.lastIndexOf("\n") + 1;
    for (let i = text.length - 1; i > lf; i--) if (text.charCodeAt(i - 1) === CR) return i;
    return lf;
  },

  cut(text: string): string[] {
    const lines: string[] = [];
    let start = 0;
    let lf = text.indexOf("\n");
    let cr = text.indexOf("\r");
    while (start < text.length) {
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      lines.push(text.slice(start, end));
      start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      // Each search continues only behind its last result: a text without CR is searched for it once.
      if (lf !== -1 && lf < start) lf = text.indexOf("\n", start);
      if (cr !== -1 && cr < start) cr = text.indexOf("\r", start);
    }
    return lines;
  },
};

/** Returns the offset of the first line over `limit` bytes, or -1, by one search for each window of that size. */
export function startOfLongLine(bytes: Uint8Array, limit: number, ends: LineEnds): number {
  let start = 0;
  while (bytes.length - start > limit) {
    const end = lastEndWithin(bytes.subarray(start, start + limit + 2), limit, bytes.length - start, ends);
    if (end === 0) return start;
    start += end;
  }
  return -1;
}

/** Returns the offset behind the window's last line ending, or 0. A line as long as the window must fit the limit. */
function lastEndWithin(window: Uint8Array, limit: number, rest: number, ends: LineEnds): number {
  const end = rest === window.length ? rest : ends.last(window);
  if (end <= limit + 1) return end;
  const endsWithLF = window[limit + 1] === LF;
  if (endsWithLF && window[limit] === CR) return end;
  return ends.last(endsWithLF ? window.subarray(0, limit + 1) : window);
}
