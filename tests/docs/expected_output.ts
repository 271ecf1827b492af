import { codeMarks, codeOnly } from "./code_marks.ts";

/** The output that a block documents for one of its lines. */
export interface ExpectedOutput {
  /** First and last line of the call, from 1. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The text that a line printed. */
export interface Print {
  readonly line: number;
  readonly text: string;
}

const call = /\bconsole\s*\.\s*(?:log|info|warn|error|debug)\s*\(/g;

/** Returns the comments that follow a call of `console.log()` on the line where it ends. */
export function expectedOutput(code: string): ExpectedOutput[] {
  const marks = codeMarks(code);
  const bare = codeOnly(code, marks);
  const expected: ExpectedOutput[] = [];
  for (const { index, 0: start } of bare.matchAll(call)) {
    const end = closingBracket(bare, index + start.length);
    const rest = /^[\s)\]};,]*/.exec(bare.slice(end, endOfLine(bare, end)))![0];
    const comment = marks.comments.find(({ start }) => start >= end && start <= end + rest.length);
    if (comment === undefined || !code.startsWith("//", comment.start)) continue;
    expected.push({
      from: lineAt(code, index),
      to: lineAt(code, end),
      text: code.slice(comment.start + 2, comment.end).trim(),
    });
  }
  return expected;
}

/** Describes the differences between printed and expected output; several prints of a line are joined by a comma. */
export function differences(expected: readonly ExpectedOutput[], prints: readonly Print[]): Print[] {
  return expected.flatMap(({ from, to, text }) => {
    const printed = prints.filter(({ line }) => line >= from && line <= to).map((print) => print.text);
    if (printed.length === 0) return [{ line: from, text: `printed nothing, expected "${text}"` }];
    const all = printed.join(", ");
    return matches(all, text) ? [] : [{ line: from, text: `printed "${all}", expected "${text}"` }];
  });
}

/** Whether a text matches a comment, in which `…` matches anything. */
export function matches(text: string, comment: string): boolean {
  const parts = plain(comment).split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`).test(plain(text));
}

/** Removes the differences between runtimes in printed objects: quotes, line breaks, and commas before them. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/["`]/g, "'").replace(/, ?(?=[}\]])/g, " ").trim();
}

function closingBracket(bare: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < bare.length && depth > 0; at++) {
    if (bare[at] === "(") depth++;
    else if (bare[at] === ")") depth--;
  }
  return at;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
