import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blockOf, type Fence } from "./block.ts";
import { fencesOfFile } from "./read_blocks.ts";
import { type Setup, setupOf } from "./setup.ts";

/** A block of command lines in a page or comment. */
export interface ShellBlock {
  readonly path: string;
  /** The line of `path` with the first command, from 1. */
  readonly line: number;
  readonly commands: readonly Command[];
  /** The closest block before it that listens on the port that its commands ask, if there is one. */
  readonly server: Block | undefined;
  /** The setup of its page; undefined for blocks of sources. */
  readonly setup: Setup | undefined;
}

/** A command and its comment. */
export interface Command {
  readonly line: number;
  readonly words: string;
  /** The comment after it; empty if there is none. */
  readonly comment: string;
}

const otherNames = new Set(["bash", "shell", "zsh", "console", "shell-session", "shellscript", "terminal"]);

/**
 * Returns the blocks of sh in pages and in the comments of sources.
 *
 * @throws {TypeError} If a block names its language otherwise, such as `bash`, or has words after it.
 */
export function readShellBlocks(paths: readonly string[], root: string): ShellBlock[] {
  return paths.flatMap((path) => shellBlocksOf(path, readFileSync(join(root, path), "utf8")));
}

/** Returns the blocks of sh of one page or source. */
export function shellBlocksOf(path: string, text: string): ShellBlock[] {
  const before: Block[] = [];
  const fences = fencesOfFile(path, text);
  const setup = path.endsWith(".md") ? setupOf(fences) : undefined;
  return fences.flatMap((fence) => {
    const block = blockOf(path, fence);
    if (block !== undefined) before.push(block);
    if (otherNames.has(fence.info.split(/\s/)[0].toLowerCase())) {
      throw new TypeError(`${path}:${fence.line}: a block of ${fence.info} is not run: call it sh`);
    }
    if (!/^sh\b/.test(fence.info)) return [];
    if (fence.info !== "sh") throw new TypeError(`${path}:${fence.line}: ${fence.info}: use sh alone`);
    return [{ path, line: fence.line + 1, commands: commandsOf(fence), server: serverOf(fence, before), setup }];
  });
}

/** Returns the commands of a block of sh; a command continued after a backslash is one. */
export function commandsOf({ line, code }: Pick<Fence, "line" | "code">): Command[] {
  const commands: Command[] = [];
  let begun = "";
  code.forEach((text, i) => {
    const whole = begun + text;
    begun = whole.endsWith("\\") ? whole.slice(0, -1) : "";
    if (begun !== "" || whole.trim() === "" || whole.startsWith("#")) return;
    const [, words, comment = ""] = /^(.*?)(?:\s+#\s+(.*))?$/.exec(whole)!;
    commands.push({ line: line + 1 + i, words, comment });
  });
  return commands;
}

function serverOf({ code }: Fence, before: readonly Block[]): Block | undefined {
  const port = /\/\/127\.0\.0\.1:(\d+)/.exec(code.join("\n"))?.[1];
  if (port === undefined) return undefined;
  const listens = new RegExp(`(?:listen|serve)\\(\\s*${port}\\b|\\bport:\\s*${port}\\b`);
  return before.findLast((block) => listens.test(block.code));
}
