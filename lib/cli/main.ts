import { existsSync } from "node:fs";
import process from "node:process";
import { explain } from "../precompress/internal.ts";
import type { Command } from "./command.ts";
import { DONE, FAILED, WRONG_USAGE } from "./exit_status.ts";
import { UsageError } from "./usage.ts";
import { version } from "./version.ts";

/** Each command is loaded when it is called for: a server needs no codecs. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  precompress: async () => (await import("./precompress_command.ts")).precompressCommand,
  serve: async () => (await import("./serve_command.ts")).serveCommand,
};

const overview = `usage: millrace precompress DIR [options]   compress a folder's files ahead of serving
       millrace serve DIR [options]         serve a folder (see millrace serve --help)

The word precompress may be left out.

`;

/**
 * Runs the command that `words`, the command line without the program's name, ask for.
 *
 * @returns the exit status: 0 done, 1 something failed, 2 wrong usage, above 128 interrupted. It never rejects: what is
 * wrong is told on stderr.
 */
export async function main(words: readonly string[]): Promise<number> {
  const name = words.length > 0 && Object.hasOwn(commands, words[0]!) ? words[0] : undefined;
  try {
    if (!name) requireFolder(words[0]);
    const { help, run } = await commands[name ?? "precompress"]!();
    if (words.length === 0) return usage(overview + help);
    const result = await run(words);
    if (result === "help") return print(name ? help : overview + help);
    return result === "version" ? print(`millrace ${version}\n`) : result;
  } catch (error) {
    process.stderr.write(`millrace: ${explain(error)}\n`);
    if (!(error instanceof UsageError)) return FAILED;
    process.stderr.write(`see ${name === "serve" ? "serve " : ""}--help\n`);
    return WRONG_USAGE;
  }
}

/** A mistyped command should not pass for a folder's name. */
function requireFolder(word: string | undefined): void {
  if (word === undefined || !/^\w[\w-]*$/.test(word) || existsSync(word)) return;
  throw new UsageError(`"${word}" is neither a command (${Object.keys(commands).join(", ")}) nor a folder`);
}

/** Who says nothing at all is told what there is to say. */
function usage(text: string): number {
  process.stderr.write(text);
  return WRONG_USAGE;
}

function print(text: string): number {
  process.stdout.write(text);
  return DONE;
}
