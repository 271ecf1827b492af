import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { root } from "./root.ts";
import { isWindows, isWine, runtimeFolders } from "./systems/windows.ts";
import { type Counts, junitCounts, nodeCounts } from "./test_counts.ts";

const MINUTE = 60_000;
/** Whether random programs run in their full number. */
export const isLong: boolean = process.argv.includes("--long");
/** The time limits of a test and of a process, in ms. */
const [TEST_LIMIT, PROCESS_LIMIT] = isLong || isWine ? [60 * MINUTE, 120 * MINUTE] : [4 * MINUTE, 15 * MINUTE];

/** The command and options by which a runtime runs tests. */
export interface Runtime {
  readonly command: (report: string, files: readonly string[], isAgain: boolean) => string[];
  /** Whether each named file loads its modules again, without those that earlier files loaded. */
  readonly loadsAnew: boolean;
  readonly counts: (report: string) => Counts;
}

/** The runtimes that tests run on. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  node: {
    command: (report, files, isAgain) => {
      const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
      const json = ["--test-reporter=./.ci/node_reporter.ts", `--test-reporter-destination=${report}`];
      const limits = ["--test-concurrency=1", `--test-timeout=${TEST_LIMIT}`];
      const before = ["found_modules", ...isAgain ? [] : ["untracked_tests"]];
      const imports = before.map((name) => `--import=${pathToFileURL(join(root, `.ci/${name}.ts`))}`);
      // Parts outnumber the processors: V8's threads for garbage would mostly wait for one another, at up to a quarter of
      // the work of a part.
      return ["node", "--single-threaded-gc", "--test", ...imports, ...limits, ...reporters, ...json, ...files];
    },
    loadsAnew: true,
    counts: nodeCounts,
  },
  bun: {
    command: (report, files) => {
      const limits = ["--timeout", String(TEST_LIMIT)];
      const explicit = files.map((file) => `./${file}`); // a bare path would be a filter
      return ["bun", "test", ...limits, "--reporter=junit", `--reporter-outfile=${report}`, ...explicit];
    },
    loadsAnew: false,
    counts: junitCounts,
  },
  deno: {
    command: (report, files) => ["deno", "test", "-A", "--no-check", `--junit-path=${report}`, ...files],
    loadsAnew: true,
    counts: junitCounts,
  },
};

/** Node's compiled modules: many processes load the same ones. */
const compiled = mkdtempSync(join(tmpdir(), "millrace-compiled-"));
process.once("exit", () => rmSync(compiled, { recursive: true, force: true }));

/** A group of files that one process runs, or that run one after the other. */
export interface Part {
  readonly name: string;
  readonly files: readonly string[];
  /** Whether the files share modules and a process, rather than have each its own. */
  readonly isShared: boolean;
  /** Whether the files have failed before, so that Node looks for the test of each stray error; false if left out. */
  readonly isAgain?: boolean;
  /** Variables of the process's environment beside those of this one. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the tests of a part. Their output is shown live, or when all have ended. */
export async function runPart(part: Part, shown: "live" | "after"): Promise<Counts> {
  const { name, files, isShared, isAgain = shown === "live", environment } = part;
  const folder = mkdtempSync(join(tmpdir(), "millrace-test-"));
  const report = join(folder, "report");
  const log = shown === "after" ? join(folder, "log") : undefined;
  const { command, loadsAnew } = runtimes[name];
  const groups = isShared ? [files] : files.map((file) => [file]);
  const entries = loadsAnew ? groups.map((group) => new Entry(group, folder)) : [];
  const named = loadsAnew ? entries.map(({ path }) => path) : files;
  const fault = await runTests(command(report, named, isAgain), log, environment);
  let counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    counts = runtimes[name].counts(readFileSync(report, "utf8"));
  } catch (error) {
    console.error(`${name} left no readable report: ${(error as Error).message}`);
  }
  const broken = entries.filter((entry) => !entry.isLoaded && !counts.failures.some(({ file }) => file === entry.path));
  const untold = untoldFault(counts, fault, broken);
  if (untold !== undefined) {
    const report = log === undefined ? "" : readFileSync(log, "utf8").split("\n").slice(-60).join("\n");
    counts.failures.push({ name: untold, report, file: undefined });
    counts.failed++;
  }
  rmSync(folder, { recursive: true });
  const byFile = (text: string): string =>
    entries.reduce((text, entry) => text.replaceAll(entry.path, entry.name), text);
  const failures = counts.failures.map(({ name, file, ...failure }) => {
    return { ...failure, name: byFile(name).replaceAll(`${folder}/`, ""), file: file && byFile(file) };
  });
  return { ...counts, failures };
}

/** Returns the reason of a failure that no test reports: a file that does not load, a crash, or no test at all. */
function untoldFault(counts: Counts, fault: string | undefined, broken: readonly Entry[]): string | undefined {
  if (broken.length > 0) return `${broken.map(({ name }) => name).join(", ")} did not load`;
  if (counts.failed > 0) return undefined;
  if (fault !== undefined) return `${fault}, no test failed`;
  return counts.passed + counts.skipped === 0 ? "no test ran" : undefined;
}

/**
 * A module that imports test files, which loads shared imports once, and reports when all have loaded. It is JavaScript:
 * for a new module in TypeScript Node loads its compiler, which takes 45 ms of a processor.
 */
class Entry {
  readonly name: string;
  readonly path: string;
  readonly #loaded: string;

  constructor(files: readonly string[], folder: string) {
    this.name = files.length === 1 ? files[0] : `one of ${files.length} files`;
    // A runtime names it by its path where it knows no test.
    this.path = join(folder, files.length === 1 ? files[0].replace(/ts$/, "js") : "tests/together_test.js");
    this.#loaded = `${this.path}.loaded`;
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const imports = files.map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)).href)};\n`);
    // Deno says nothing of a module that throws after its first test, and no runtime of tests that an exit leaves out.
    writeFileSync(
      this.path,
      `import { writeFileSync } from "node:fs";
import process from "node:process";
${imports.join("")}writeFileSync(${JSON.stringify(this.#loaded)}, "");
process.exit = (code) => { throw new Error(\`a test ended its process with \${code}\`); };
`,
    );
  }

  get isLoaded(): boolean {
    return existsSync(this.#loaded);
  }
}

/** The folders in which commands are looked for. */
export const searchPath: string = [
  ...(isWindows ? runtimeFolders : []),
  join(root, "node_modules/.bin"),
  process.env.PATH,
].join(delimiter);

/**
 * Runs a command of node_modules/.bin or the system, and prints what it does; says why it failed, if so.
 *
 * @param log A file for what is printed until the command has ended.
 */
export async function runTests(
  [command, ...args]: string[],
  log: string | undefined,
  environment: Part["environment"] = {},
): Promise<string | undefined> {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value} `).join("");
  const line = `\n$ ${variables}${command} ${args.join(" ")}`;
  if (log === undefined) console.log(line);
  const output = log === undefined ? "inherit" : openSync(log, "w");
  const began = performance.now();
  const env = {
    ...process.env,
    PATH: searchPath,
    NODE_COMPILE_CACHE: compiled,
    ...environment,
  };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", output, output], timeout: PROCESS_LIMIT });
  let worked = 0;
  child.once("exit", () => {
    const before = workedBefore;
    workedBefore = workOfChildren();
    worked = workedBefore - before;
  });
  const fault = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => {
      resolve(code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}`);
    });
  });
  if (typeof output === "number") {
    closeSync(output);
    const seconds = Math.round((performance.now() - began) / 1000);
    const work = worked > 0 ? `, ${Math.round(worked)} s of a processor` : "";
    process.stdout.write(`${line}\n${readFileSync(log!, "utf8")}\n(${seconds} s${work})\n`);
  }
  return fault;
}

let workedBefore = 0;

/** Returns the CPU time of the children that have ended, and of their children, in seconds; 0 if that is not known. */
export function workOfChildren(): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync("/proc/self/stat", "latin1").replace(/^.*\) /s, "").split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
