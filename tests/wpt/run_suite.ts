import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { root as repository, runtime as current } from "../support/runtime.ts";
import { isExcluded } from "./exclusions.ts";
import type { Mode } from "./mode.ts";
import { type FileResult, type Line, MARK, type Subtest } from "./result.ts";
import { COMPRESSION, fileOfTest, isPiping, testFiles } from "./test_file.ts";

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
  /** Whether the files of a folder share a process, except those that are in {@linkcode ALONE}; false if left out. */
  readonly isShared?: boolean;
}

/** The files that change what others use, collect garbage or have a harness of their own. */
const ALONE = /idlharness|patched-global|then-interception|garbage-collection|transferable/;

/** The flags that run a TypeScript file, with garbage collection on demand. */
const flags: Readonly<Record<Exclude<Runtime, "chromium">, readonly string[]>> = {
  node: ["--expose-gc", "--no-warnings"],
  bun: [],
  deno: ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
};

/** Processes at a time. */
const POOL = 2;
/** The seconds after which the harness ends the open subtests of a file; each other file of a group has two more. */
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
  const { runtime, mode, isShared = false } = run;
  const groups = Map.groupBy(files, (file) => isShared && !ALONE.test(file) ? dirname(file) : file);
  const queue = groups.values();
  // Loaded here: the builds for browsers run on Node.
  const chromium = runtime === "chromium"
    ? await (await import("./in_chromium.ts")).openChromiumRunner(root)
    : undefined;
  try {
    await Promise.all(Array.from({ length: POOL }, async () => {
      for (const group of queue) {
        const lines = chromium && await chromium.run(group, mode, patienceOf(group) + GRACE);
        const told = lines
          ? summarize(lines, "it did not end")
          : await runFiles(root, group, runtime as LocalRuntime, mode);
        for (const result of byFile(group, told)) {
          const subtests = result.subtests.filter(({ name }) => !isExcluded(result.file, name, runtime, mode));
          results.push({ ...result, subtests });
        }
      }
    }));
  } finally {
    await chromium?.close();
  }
  return results.sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file));
}

/** Returns the outcome of each file of a group; faults are those of the first one. */
function byFile(group: readonly string[], { subtests, faults }: Omit<FileResult, "file">): FileResult[] {
  if (group.length === 1) return [{ file: group[0]!, subtests, faults }];
  const named = subtests.map((subtest) => {
    const [file, name] = fileOfTest(subtest.name);
    return { file: file ?? group[0], subtest: { ...subtest, name } };
  });
  return group.map((file, index) => {
    const own = named.filter((each) => each.file === file).map(({ subtest }) => subtest);
    const missing = own.length === 0 ? [`no subtest of ${file} ran`] : [];
    return { file, subtests: own, faults: [...index === 0 ? faults : [], ...missing] };
  });
}

/** Returns the seconds after which the harness ends the open subtests of files. */
function patienceOf(group: readonly string[]): number {
  return PATIENCE + 2 * (group.length - 1);
}

/** A runtime that is no browser. */
export type LocalRuntime = keyof typeof flags;

/** Runs all test files of compression in one process: `ours` are the codecs' streams. */
export async function runCompression(
  root: string,
  runtime: LocalRuntime,
  mode: "native" | "ours",
): Promise<FileResult> {
  const told = await runFiles(root, [COMPRESSION], runtime, mode);
  const subtests = told.subtests.filter(({ name }) => !isExcluded(COMPRESSION, name, runtime, mode));
  return { file: COMPRESSION, ...told, subtests };
}

function runFiles(
  root: string,
  files: readonly string[],
  runtime: LocalRuntime,
  mode: Mode,
): Promise<Omit<FileResult, "file">> {
  const words = [root, files.join(), mode, String(patienceOf(files))];
  return runProcess(runtime, [join(repository, "tests/wpt/child.ts"), ...words]);
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
