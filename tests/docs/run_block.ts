import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Block } from "./block.ts";
import { differences, expectedOutput, type Print } from "./expected_output.ts";
import type { RuntimeName } from "./runtime_name.ts";
import { freePorts, type StandIns, withStandIns } from "./stand_ins.ts";

/** Where and by what a block is run. */
export interface RunOptions {
  readonly runtime: RuntimeName;
  /** The program of the runtime, as {@linkcode process.execPath}. */
  readonly executable: string;
  /** A folder from which `@millrace/streams` is found, and what else the block imports: it is run in a folder below. */
  readonly project: string;
  /** Origin of the server that stands for public hosts. */
  readonly origin: string;
  /** Variables of the environment beside, or in the place of, those that are inherited. */
  readonly env?: Readonly<Record<string, string>>;
}

const here = dirname(fileURLToPath(import.meta.url));
const startCode = readFileSync(join(here, "start.ts"), "utf8");
const LIMIT = 60_000; // ms that a block may take
const leadingArguments: Readonly<Record<RuntimeName, readonly string[]>> = {
  node: [],
  bun: [],
  deno: ["run", "-A", "--no-check", "--quiet"],
};

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
  const blocks = join(options.project, "blocks");
  mkdirSync(blocks, { recursive: true });
  const folder = mkdtempSync(join(blocks, `${basename(block.path)}-${block.line}-`));
  try {
    return await runIn(folder, block, options);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runIn(folder: string, block: Block, options: RunOptions): Promise<string[]> {
  const work = join(folder, "work");
  cpSync(join(here, "fixture"), work, { recursive: true });
  mkdirSync(join(work, "uploads"));
  const { runtime, executable, origin } = options;
  const ports = await freePorts();
  const code = withStandIns(block.code, { origin, ports });
  const example = writeModule(join(work, "example"), block.language, code, runtime);
  const start = writeModule(join(folder, "start"), "ts", startCode, runtime);
  const report = join(folder, "report");
  writeFileSync(report, "");
  const args = [...leadingArguments[runtime], start, example, report];
  const ended = await runProcess(executable, args, work, environment(options, ports));
  return problems(code, ended, readFileSync(report, "utf8"))
    .map(({ line, text }) => `${block.path}:${block.line + line - 1} (${runtime}): ${text}`);
}

/**
 * Writes a module, for Node without its types: as Node itself strips them, which takes each process longer than all
 * else that it does.
 *
 * @returns Its path.
 */
function writeModule(path: string, language: string, code: string, runtime: RuntimeName): string {
  const stripped = runtime === "node" && language === "ts" ? withoutTypes(code) : undefined;
  const file = `${path}.${stripped === undefined ? language : "js"}`;
  writeFileSync(file, stripped ?? code);
  return file;
}

/** The code without types, in the same places; nothing if that is to be left to the runtime. */
function withoutTypes(code: string): string | undefined {
  try {
    return process.getBuiltinModule("node:module").stripTypeScriptTypes?.(code);
  } catch {
    return undefined; // Node will say what is wrong
  }
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

function environment({ project, env }: RunOptions, ports: StandIns["ports"]): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...inherited } = process.env;
  return {
    ...inherited,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: join(project, "compiled"),
    // Where servers listen that name no port.
    DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${ports["8000"]}`,
    BUN_PORT: String(ports["3000"]),
    // Else who called `(text) => console.log(text)` is not on the stack.
    BUN_JSC_useTailCalls: "false",
    ...env,
  };
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
