import type { GatheredChunks } from "./gathered_chunks.ts";

const LF = 10;
const CR = 13;

/** What ends a line. */
export interface LineEnds {
  /** The offset behind the first end in `bytes`, which go on after a CR or another byte; -1 if there is none. */
  first(bytes: Uint8Array, isAfterCR: boolean): number;
  /** The offset behind the last end in `bytes`; 0 if there is none. */
  last(bytes: Uint8Array): number;
  /** Adds the lines of a text that ends where a line does. */
  cut(text: string, lines: GatheredChunks<string>): void;
}

/** LF, with or without a CR before it. */
export const LF_ENDS: LineEnds = {
  first(bytes: Uint8Array): number {
    return bytes.indexOf(LF) + 1 || -1;
  },

  last(bytes: Uint8Array): number {
    return bytes.lastIndexOf(LF) + 1;
  },

  cut(text: string, lines: GatheredChunks<string>): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const isCRLF = end > start && text.charCodeAt(end - 1) === CR;
      lines.add(text.slice(start, isCRLF ? end - 1 : end));
      start = end + 1;
    }
  },
};

/** LF, CRLF and CR. A CR at the end of the bytes is none yet: what follows may be its LF. */
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

  cut(text: string, lines: GatheredChunks<string>): void {
    let start = 0;
    let lf = text.indexOf("\n");
    let cr = text.indexOf("\r");
    while (start < text.length) {
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      lines.add(text.slice(start, end));
      start = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      // Asked again only when passed: a text without one of the two is searched for it once.
      if (lf !== -1 && lf < start) lf = text.indexOf("\n", start);
      if (cr !== -1 && cr < start) cr = text.indexOf("\r", start);
    }
  },
};
