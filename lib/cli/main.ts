import { existsSync } from "node:fs";
import process from "node:process";
import { type Command, DONE, FAILED, suggestionFor, UsageError, WRONG_USAGE } from "./usage.ts";
import { asksForVersion, version } from "./version.ts";

/** The commands, each loaded when it is used: a server needs no codecs. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["precompress", async () => (await import("./precompress_command.ts")).precompressCommand],
  ["analyze", async () => (await import("./analyze_command.ts")).analyzeCommand],
  ["serve", async () => (await import("./serve_command.ts")).serveCommand],
]);

const names: readonly string[] = [...commands.keys(), "help", "version"];

const overview = `usage: millrace precompress DIR [options]   compress a folder's files ahead of serving
       millrace serve DIR [options]         serve a folder (see millrace serve --help)
       millrace analyze URL|DIR [options]   look for what a site need not send (see millrace analyze --help)
       millrace help [command]              print this, or the options of a command
       millrace version

The word precompress may be left out.

`;

/** Runs the command of `words`; never rejects. Returns the exit status: 0 done, 1 failed, 2 wrong usage, above 128 interrupted. */
export async function main(words: readonly string[]): Promise<number> {
  const [first] = words;
  const name = first !== undefined && commands.has(first) ? first : undefined;
  try {
    if (asksForVersion(words)) return printVersion();
    if (first === "help") return await printHelp(words.slice(1));
    if (!name && first !== undefined && /^\w[\w-]*$/.test(first) && !existsSync(first)) { // a mistyped command
      throw new UsageError(`"${first}" is neither a command (${names.join(", ")}) nor a folder${suggestion(first)}`);
    }
    const { help, run } = await commands.get(name ?? "precompress")!();
    await loadFailure(); // early, since later there may be no free descriptor to load it
    if (words.length === 0) {
      process.stderr.write(overview + help());
      return WRONG_USAGE;
    }
    const result = await run(words);
    if (result === "help") return print(name ? help() : overview + help());
    return result === "version" ? printVersion() : result;
  } catch (error) {
    const [{ explain }, { printable }] = await loadFailure();
    process.stderr.write(`millrace: ${printable(explain(error))}\n`);
    if (!(error instanceof UsageError)) return FAILED;
    process.stderr.write(`see ${name === undefined || name === "precompress" ? "" : `${name} `}--help\n`);
    return WRONG_USAGE;
  }
}

/** Loads the texts of failures, which need modules that `--version` and mistyped words do not. */
function loadFailure(): Promise<[typeof import("../precompress/internal.ts"), typeof import("../static/internal.ts")]> {
  return Promise.all([import("../precompress/internal.ts"), import("../static/internal.ts")]);
}

/** Prints all options, or those of the given command. */
async function printHelp([name, ...more]: readonly string[]): Promise<number> {
  if (more.length > 0) throw new UsageError(`help is of one command, not ${more.length + 1}`);
  const command = commands.get(name ?? "precompress");
  if (name === "help") return print(overview);
  if (!command) throw new UsageError(`"${name}" is not a command${suggestion(name!)}`);
  const { help } = await command();
  return print(name === undefined ? overview + help() : help());
}

function suggestion(word: string): string {
  return suggestionFor(word, names);
}

function printVersion(): number {
  return print(`millrace ${version}\n`);
}

function print(text: string): number {
  process.stdout.write(text);
  return DONE;
}
