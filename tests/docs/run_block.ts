import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Block } from "./block.ts";
import { differences, expectedOutput, type Print } from "./expected_output.ts";
import { withStandIns } from "./stand_ins.ts";
import {
  environment,
  leadingArguments,
  makeWorkFolder,
  type RunOptions,
  type WorkFolder,
  writeModule,
} from "./work_folder.ts";

const startCode = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "start.ts"), "utf8");
const LIMIT = 60_000; // ms that blocks of a process may take

/** A line of a report of `start.ts`: what a block prints, or its end. */
interface ReportEvent {
  readonly line: number;
  readonly text?: string;
  readonly ended?: boolean;
}

interface Ended {
  readonly how: string | undefined;
  readonly output: string;
}

/**
 * Runs a block in a process and in a folder of its own.
 *
 * @returns What failed, each beginning with `path:line`; nothing if the block ended without an error and printed what
 * its comments say.
 */
export async function runBlock(block: Block, options: RunOptions): Promise<string[]> {
  return (await runTogether([block], options)).problems[0];
}

/** The outcome of blocks that one process ran. */
export interface Together {
  /** The failures of each block, as {@linkcode runBlock} returns them; what one leaves behind may fail another. */
  readonly problems: readonly string[][];
  /** The number of blocks that had ended when the process failed; undefined if it has not. */
  readonly ended: number | undefined;
}

/** Runs blocks one after the other in one process, each in a folder of its own. */
export async function runTogether(blocks: readonly Block[], options: RunOptions): Promise<Together> {
  const folders: WorkFolder[] = [];
  try {
    for (const { path, line, setup } of blocks) {
      folders.push(await makeWorkFolder(`${basename(path)}-${line}`, options, setup));
    }
    return await runIn(folders, blocks, options);
  } finally {
    for (const folder of folders) folder.remove();
  }
}

async function runIn(
  folders: readonly WorkFolder[],
  blocks: readonly Block[],
  options: RunOptions,
): Promise<Together> {
  const { runtime, executable } = options;
  const [first] = folders;
  const codes = blocks.map(({ code }, i) => withStandIns(code, folders[i].standIns));
  const start = writeModule(join(first.outer, "start"), "ts", startCode, runtime);
  const reports = folders.map(({ outer }) => join(outer, "report"));
  const words = blocks.flatMap(({ language }, i) => {
    writeFileSync(reports[i], "");
    return [writeModule(join(folders[i].path, "example"), language, codes[i], runtime), reports[i]];
  });
  const args = [...leadingArguments[runtime], start, blocks.every(endsItself) ? "end" : "stay", ...words];
  const ended = await runProcess(executable, args, first.path, environment(options, first), options.limit ?? LIMIT);
  const events = reports.map((report) =>
    readFileSync(report, "utf8").split("\n").filter((line) => line !== "").map((line): ReportEvent => JSON.parse(line))
  );
  const problems = blocks.map(({ path, line }, i) =>
    problemsOf(codes[i], ended, events[i])
      .map((print) => `${path}:${line + print.line - 1} (${runtime}): ${print.text}`)
  );
  const whole = events.filter((events) => events.some(({ ended }) => ended)).length;
  return { problems, ended: ended.how === undefined ? undefined : whole };
}

/** Blocks that listen stay, unless they close their server. */
const listening = /\b(?:listen|serve|createServer)\b/;
const closing = /^server\.close\(\);$/m;

/** Whether a block keeps running, as a server does. */
export function stays({ code }: Block): boolean {
  return listening.test(code) && !closing.test(code);
}

/** Whether the process of a block has to end without being ended: those of pages are whole programs. */
function endsItself(block: Block): boolean {
  return block.setup !== undefined && !stays(block);
}

function problemsOf(code: string, { how, output }: Ended, events: readonly ReportEvent[]): readonly Print[] {
  const printed = output.trim() === "" ? "it printed nothing" : `it printed:\n${output.trimEnd().replace(/^/gm, "  ")}`;
  if (how !== undefined) return [{ line: failingLine(output), text: `${how}; ${printed}` }];
  if (!events.some(({ ended }) => ended)) return [{ line: 1, text: `it ended before its last line; ${printed}` }];
  return differences(
    expectedOutput(code),
    events.flatMap(({ line, text }) => text === undefined ? [] : { line, text }),
  );
}

/** Returns the line of the block that its error names, or the first. */
function failingLine(output: string): number {
  return Number(/[/\\]example\.[jt]s:(\d+)/.exec(output)?.[1] ?? 1);
}

function runProcess(
  executable: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  most: number,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const limit = setTimeout(() => child.kill("SIGKILL"), most);
    let output = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => output += text);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => output += text);
    child.on("error", reject).on("close", (code, signal) => {
      clearTimeout(limit);
      const late = signal === "SIGKILL" ? `it did not end within ${most / 1000} s` : undefined;
      resolve({ how: code === 0 ? undefined : late ?? `it ended with ${signal ?? `exit code ${code}`}`, output });
    });
  });
}
