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
const LIMIT = 60_000; // ms that a block may take

interface Ended {
  readonly how: string | undefined;
  readonly output: string;
}

/**
 * Runs a block in a process of its own and in a fresh copy of the fixture.
 *
 * @returns What failed, each beginning with `path:line`; nothing if the block ended without an error and printed what
 * its comments say.
 */
export async function runBlock(block: Block, options: RunOptions): Promise<string[]> {
  return (await runTogether([block], options))[0];
}

/**
 * Runs blocks one after the other in one process, each in a fresh copy of the fixture.
 *
 * @returns For each what {@linkcode runBlock} says; what one leaves behind may fail another.
 */
export async function runTogether(blocks: readonly Block[], options: RunOptions): Promise<string[][]> {
  const folders: WorkFolder[] = [];
  try {
    for (const { path, line } of blocks) {
      folders.push(await makeWorkFolder(`${basename(path)}-${line}`, options, path.endsWith(".md")));
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
): Promise<string[][]> {
  const { runtime, executable } = options;
  const [first] = folders;
  const codes = blocks.map(({ code }, i) => withStandIns(code, folders[i].standIns));
  const start = writeModule(join(first.outer, "start"), "ts", startCode, runtime);
  const reports = folders.map(({ outer }) => join(outer, "report"));
  const words = blocks.flatMap(({ language }, i) => {
    writeFileSync(reports[i], "");
    return [writeModule(join(folders[i].path, "example"), language, codes[i], runtime), reports[i]];
  });
  const args = [...leadingArguments[runtime], start, ...words];
  const ended = await runProcess(executable, args, first.path, environment(options, first));
  return blocks.map(({ path, line }, i) =>
    problems(codes[i], ended, readFileSync(reports[i], "utf8"))
      .map((print) => `${path}:${line + print.line - 1} (${runtime}): ${print.text}`)
  );
}

function problems(code: string, { how, output }: Ended, report: string): Print[] {
  const events = report.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  const printed = output.trim() === "" ? "it printed nothing" : `it printed:\n${output.trimEnd().replace(/^/gm, "  ")}`;
  if (how !== undefined) return [{ line: failingLine(output), text: `${how}; ${printed}` }];
  if (!events.some(({ ended }) => ended)) return [{ line: 1, text: `it ended before its last line; ${printed}` }];
  return differences(expectedOutput(code), events.filter(({ text }) => text !== undefined));
}

/** Returns the line of the block that its error names, or the first. */
function failingLine(output: string): number {
  return Number(/[/\\]example\.[jt]s:(\d+)/.exec(output)?.[1] ?? 1);
}

function runProcess(executable: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT);
    let output = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => output += text);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => output += text);
    child.on("error", reject).on("close", (code, signal) => {
      clearTimeout(limit);
      const late = signal === "SIGKILL" ? `it did not end within ${LIMIT / 1000} s` : undefined;
      resolve({ how: code === 0 ? undefined : late ?? `it ended with ${signal ?? `exit code ${code}`}`, output });
    });
  });
}
