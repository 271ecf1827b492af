import { described } from "../streams/internal.ts";
import type { CompleteLinesOptions } from "./complete_lines.ts";

/** As many bytes as the longest string of V8 has characters: a line that is not longer is a string on every runtime. */
export const LONGEST: number = 2 ** 29 - 24;

/** @throws {RangeError} if `maxLineLength` is not a number of bytes. */
export function checkedMaxLineLength(length: number = LONGEST): number {
  if (typeof length === "number" && length >= 0) return Math.floor(length);
  throw new RangeError(`maxLineLength ${described(length)} is not a number of bytes: use 0 or more`);
}

/** The limit of lines, and the errors of those that exceed it; `lineNumber` gives which line is next. */
export function lineLimit(
  maxLength: number,
  lineNumber: () => number,
): Pick<CompleteLinesOptions, "maxLength" | "tooLong" | "tooLarge"> {
  return {
    maxLength,
    tooLong(): RangeError {
      return new RangeError(`line ${lineNumber()} is longer than ${maxLength} bytes: raise maxLineLength if it may be`);
    },
    tooLarge(length, kind, cause): RangeError {
      const what = `line ${lineNumber()} has at least ${length} bytes, more than ${kind} can hold here`;
      return new RangeError(`${what}: lower maxLineLength to refuse it earlier`, { cause });
    },
  };
}
