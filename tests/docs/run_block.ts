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
  const folder = await makeWorkFolder(`${basename(block.path)}-${block.line}`, options);
  try {
    return await runIn(folder, block, options);
  } finally {
    folder.remove();
  }
}

async function runIn(folder: WorkFolder, block: Block, options: RunOptions): Promise<string[]> {
  const { runtime, executable } = options;
  const code = withStandIns(block.code, folder.standIns);
  const example = writeModule(join(folder.path, "example"), block.language, code, runtime);
  const start = writeModule(join(folder.outer, "start"), "ts", startCode, runtime);
  const report = join(folder.outer, "report");
  writeFileSync(report, "");
  const args = [...leadingArguments[runtime], start, example, report];
  const ended = await runProcess(executable, args, folder.path, environment(options, folder));
  return problems(code, ended, readFileSync(report, "utf8"))
    .map(({ line, text }) => `${block.path}:${block.line + line - 1} (${runtime}): ${text}`);
}

function problems(code: string, { how, output }: Ended, report: string): Print[] {
  const events = report.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  const printed = output.trim() === "" ? "it printed nothing" : `it printed:\n${output.trimEnd().replace(/^/gm, "  ")}`;
  if (how !== undefined) return [{ line: failingLine(output), text: `${how}; ${printed}` }];
  if (!events.some(({ ended }) => ended)) return [{ line: 1, text: `it ended before its last line; ${printed}` }];
  return differences(expectedOutput(code), events.filter(({ text }) => text !== undefined));
}

/** The line of the block that its error names, or the first. */
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
