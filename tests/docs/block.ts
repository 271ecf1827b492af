import { type RuntimeName, runtimeNames } from "./runtime_name.ts";
import type { Setup } from "./setup.ts";

/** A block of code in a page, or in an `@example` of a source, that is to be checked and run. */
export interface Block {
  /** Path of the page or source, as it was given. */
  readonly path: string;
  /** Line of `path` that holds the first line of the code, from 1. */
  readonly line: number;
  readonly language: "ts" | "js";
  /** The runtimes that run it: those named after the language, or all. */
  readonly runtimes: readonly RuntimeName[];
  /** The setup of its page; undefined for blocks of sources, which find the fixture and all packages. */
  readonly setup?: Setup | undefined;
  /** The code without the indentation of its fence. */
  readonly code: string;
}

/** A line of text with its place, freed of whatever a comment puts before it. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

/** A fenced block of a page, of whichever language. */
export interface Fence {
  /** Line of the fence itself. */
  readonly line: number;
  readonly mark: string;
  readonly prefix: string;
  /** The text after the language of the fence. */
  readonly info: string;
  /** Its lines, without the indentation of the fence. */
  readonly code: string[];
}

// The characters allowed before a fence on its line: indentation, quote marks, and the mark of a list's item.
const opening = /^((?:\s|>|[-*+]\s|\d+[.)]\s)*)(`{3,}|~{3,})(.*)$/;
const closing = /^[\s>]*(`{3,}|~{3,})\s*$/;
const otherNames = new Set(["typescript", "javascript", "mts", "mjs", "cts", "cjs", "tsx", "jsx"]);

/**
 * The blocks of ts and js among lines of Markdown.
 *
 * @throws {TypeError} As {@linkcode fencesOf} and {@linkcode blockOf}.
 */
export function blocksOfMarkdown(path: string, lines: Iterable<Line>): Block[] {
  return fencesOf(path, lines).flatMap((fence) => blockOf(path, fence) ?? []);
}

/**
 * The fenced blocks among lines of Markdown.
 *
 * @throws {TypeError} If one is not closed.
 */
export function fencesOf(path: string, lines: Iterable<Line>): Fence[] {
  const fences: Fence[] = [];
  let fence: Fence | undefined;
  for (const { number, text } of lines) {
    if (fence === undefined) {
      fence = openedFence(number, text);
    } else if (closes(fence, text)) {
      fences.push(fence);
      fence = undefined;
    } else {
      fence.code.push(withoutPrefix(text, fence.prefix));
    }
  }
  if (fence !== undefined) throw new TypeError(`${path}:${fence.line}: this fence is not closed`);
  return fences;
}

function openedFence(line: number, text: string): Fence | undefined {
  const match = opening.exec(text);
  if (match === null) return undefined;
  const [, prefix, mark, info] = match;
  // As CommonMark has it: `` ```x``` `` is code within a line.
  if (mark.startsWith("`") && info.includes("`")) return undefined;
  return { line, mark, prefix, info: info.trim(), code: [] };
}

function closes(fence: Fence, text: string): boolean {
  const mark = closing.exec(text)?.[1];
  return mark !== undefined && mark[0] === fence.mark[0] && mark.length >= fence.mark.length;
}

/** Removes at most as much indentation, and quote marks, as the fence itself has. */
function withoutPrefix(text: string, prefix: string): string {
  let end = 0;
  while (end < prefix.length && end < text.length && /[\s>]/.test(text[end])) end++;
  return text.slice(end);
}

/**
 * The block of ts or js in a fence; undefined if it holds something else.
 *
 * @throws {TypeError} If it is marked as code under another name, or names what is no runtime.
 */
export function blockOf(path: string, { line, info, code }: Fence): Block | undefined {
  const [language, ...words] = info.split(/[\s,{]+/).filter((word) => word !== "");
  if (otherNames.has(language?.toLowerCase())) {
    throw new TypeError(`${path}:${line}: a block of ${language} is not run: call it ts or js`);
  }
  if (language !== "ts" && language !== "js") return undefined;
  const runtimes = runtimeNames.filter((name) => words.includes(name));
  const unknown = words.filter((word) => !(runtimeNames as readonly string[]).includes(word));
  if (unknown.length > 0) {
    throw new TypeError(`${path}:${line}: ${unknown.join(" ")}: use node, deno or bun, or nothing`);
  }
  if (code.every((text) => text.trim() === "")) throw new TypeError(`${path}:${line}: this block is empty`);
  return {
    path,
    line: line + 1,
    language,
    runtimes: runtimes.length > 0 ? runtimes : runtimeNames,
    code: code.join("\n") + "\n",
  };
}
