import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { root as repository, runtime as current } from "../support/runtime.ts";
import { isExcluded } from "./exclusions.ts";
import type { Mode } from "./mode.ts";
import { type FileResult, type Line, MARK, type Subtest } from "./result.ts";
import { COMPRESSION, isPiping, testFiles } from "./test_file.ts";

/** A runtime that the tests run on. */
export type Runtime = "node" | "bun" | "deno" | "chromium";

/** All runtimes, in the order of the table. */
export const runtimes: readonly Runtime[] = ["node", "bun", "deno", "chromium"];

/** The parameters of a run. */
export interface Run {
  readonly runtime: Runtime;
  readonly mode: Mode;
  /** Only files that have this in their path. */
  readonly filter?: string;
}

/** The flags that run a TypeScript file, with garbage collection on demand. */
const flags: Readonly<Record<Exclude<Runtime, "chromium">, readonly string[]>> = {
  node: ["--expose-gc", "--no-warnings"],
  bun: [],
  deno: ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
};

/** Processes at a time. */
const POOL = 2;
/** The seconds after which the harness ends a file's open subtests. */
const PATIENCE = 20;
/** The additional seconds after which a process whose harness hangs is killed. */
const GRACE = 5;

/**
 * Runs the test files of the suite in `root`, each in a process of its own, or a worker of the browser; one that fails in any way does not stop the
 * others. Where only the piping is ours, files in which nothing is piped are left out.
 */
export async function runSuite(root: string, run: Run): Promise<FileResult[]> {
  const files = testFiles(root)
    .filter((file) => file.includes(run.filter ?? "") && !isExcluded(file, undefined, run.runtime, run.mode))
    .filter((file) => run.mode !== "native-pipe-to" || isPiping(root, file));
  if (files.length === 0) throw new TypeError(`no test file in ${root} has ${JSON.stringify(run.filter)} in its path`);
  const results: FileResult[] = [];
  const queue = files.entries();
  const { runtime, mode } = run;
  // Loaded here: the builds for browsers run on Node.
  const chromium = runtime === "chromium"
    ? await (await import("./in_chromium.ts")).openChromiumRunner(root)
    : undefined;
  try {
    await Promise.all(Array.from({ length: POOL }, async () => {
      for (const [index, file] of queue) {
        const lines = chromium && await chromium.run(file, mode, PATIENCE + GRACE);
        const told = lines
          ? summarize(lines, "it did not end")
          : await runFile(root, file, runtime as LocalRuntime, mode);
        results[index] = {
          file,
          ...told,
          subtests: told.subtests.filter(({ name }) => !isExcluded(file, name, runtime, mode)),
        };
      }
    }));
  } finally {
    await chromium?.close();
  }
  return results;
}

/** A runtime that is no browser. */
export type LocalRuntime = keyof typeof flags;

/** Runs all test files of compression in one process: `ours` are the codecs' streams. */
export async function runCompression(
  root: string,
  runtime: LocalRuntime,
  mode: "native" | "ours",
): Promise<FileResult> {
  const told = await runFile(root, COMPRESSION, runtime, mode);
  const subtests = told.subtests.filter(({ name }) => !isExcluded(COMPRESSION, name, runtime, mode));
  return { file: COMPRESSION, ...told, subtests };
}

function runFile(root: string, file: string, runtime: LocalRuntime, mode: Mode): Promise<Omit<FileResult, "file">> {
  return runProcess(runtime, [join(repository, "tests/wpt/child.ts"), root, file, mode, String(PATIENCE)]);
}

/** Runs a module that prints the outcome of a test file; its last argument is its time limit in seconds. */
export function runProcess(runtime: LocalRuntime, args: readonly string[]): Promise<Omit<FileResult, "file">> {
  const command = runtime === current ? process.execPath : join(repository, "node_modules/.bin", runtime);
  const words = [...flags[runtime], ...args];
  const patience = Number(args.at(-1)) + GRACE;
  // Detached, so that it leads a group: what is in node_modules may be a launcher that has the runtime as its child.
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), patience * 1000);
  return new Promise((settle, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      settle(read(stdout, `ended early by ${signal ?? `exit code ${code}`} ${stderr}`.trim()));
    });
  });
}

/** Parses a process's lines; `early` is the fault reported if the process did not finish. */
function read(stdout: string, early: string): Omit<FileResult, "file"> {
  const lines = stdout.split("\n").filter((line) => line.startsWith(MARK))
    .map((line) => JSON.parse(line.slice(MARK.length)) as Line);
  return summarize(lines, early);
}

/** Summarizes a file's output; `early` is the fault reported if the file did not finish. */
function summarize(lines: readonly Line[], early: string): Omit<FileResult, "file"> {
  const subtests = lines.filter((line): line is Subtest => "name" in line);
  const faults = lines.flatMap((line) => "fault" in line ? line.fault : []);
  if (!lines.some((line) => "done" in line)) faults.push(early);
  else if (subtests.length === 0) faults.push("no subtest ran");
  return { subtests, faults };
}
