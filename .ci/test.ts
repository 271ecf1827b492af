/**
 * Runs the static checks and every test on Node, Bun and Deno, goes on after a failure, and ends with the errors of what
 * failed and one line for all: `N passed, N failed`. Many files run in parts, some at the same time, since most tests
 * wait more than they compute.
 *
 *   npm test                                everything
 *   npm run test:bun -- tests/codecs        one runtime, tests whose path starts so
 *   npm test -- --changed                   on Node, the tests of what differs from main
 *   npm test -- --changed=COMMIT deno       on Deno, the tests of what differs from a commit
 *   npm run test:long                       everything, random programs in their full number
 */
import { spawn } from "node:child_process";
import { closeSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { changedFiles, readGraph, testsOf } from "./changed.ts";
import { type Counts, type Failure, junitCounts, nodeCounts, shortened } from "./test_counts.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = join(root, "node_modules/.bin");
const MINUTE = 60_000;

interface Runtime {
  readonly command: (report: string, files: readonly string[]) => string[];
  readonly counts: (report: string) => Counts;
}

const runtimes: Readonly<Record<string, Runtime>> = {
  node: {
    command: (report, files) => {
      const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
      const json = ["--test-reporter=./.ci/node_reporter.ts", `--test-reporter-destination=${report}`];
      return ["node", "--test", "--test-concurrency=1", ...reporters, ...json, ...files];
    },
    counts: nodeCounts,
  },
  bun: {
    command: (report, files) => {
      const limits = ["--timeout", String(10 * MINUTE)];
      const explicit = files.map((file) => `./${file}`); // a bare path would be a filter
      return ["bun", "test", ...limits, "--reporter=junit", `--reporter-outfile=${report}`, ...explicit];
    },
    counts: junitCounts,
  },
  deno: {
    command: (report, files) => ["deno", "test", "-A", "--no-check", `--junit-path=${report}`, ...files],
    counts: junitCounts,
  },
};

const checks: Readonly<Record<string, string[]>> = {
  format: ["deno", "fmt", "--check"],
  lint: ["deno", "lint"],
  "types (tsc)": ["tsc", "--noEmit"],
  // Of the tests and benchmarks, which take two thirds of its time, the other compiler has said enough.
  "types (deno)": ["deno", "check", "mod.ts", "lib"],
  "manifests, docs and no slow types": ["npm", "run", "--silent", "check:publish"],
};

/** Node's compiled modules: each test file is a process of its own, and many start others. */
const compiled = mkdtempSync(join(tmpdir(), "millrace-compiled-"));
process.once("exit", () => rmSync(compiled, { recursive: true, force: true }));

/** Files that one process runs, or one after the other. */
interface Part {
  readonly name: string;
  readonly files: readonly string[];
}

/** How many parts run at a time: with two for a processor, a seventh of the processors' time was idle. */
const LANES = Math.ceil(2.5 * availableParallelism());

/** Most files of a part: small enough for the lanes to end at about the same time. */
const MOST_FILES = 20;

/** The files for each runtime in parts. Each begins elsewhere, so that hardly any file runs twice at a time. */
function partsOf(names: readonly string[], files: readonly string[]): Part[] {
  // A few files are shared among all lanes, too.
  const count = Math.min(files.length, Math.max(Math.ceil(files.length / MOST_FILES), Math.ceil(LANES / names.length)));
  const parts = Array.from({ length: count }, (_, i) => {
    return files.slice(Math.floor(files.length * i / count), Math.floor(files.length * (i + 1) / count));
  });
  return parts.flatMap((_, i) =>
    names.map((name, n) => ({ name, files: parts[(i + Math.floor(count * n / names.length)) % count] }))
  );
}

/** Runs the tests of a part. What they print is shown as it comes, or when all have ended. */
async function runPart({ name, files }: Part, shown: "live" | "after"): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-test-"));
  const report = join(folder, "report");
  const log = shown === "after" ? join(folder, "log") : undefined;
  const fault = await runTests(runtimes[name].command(report, files), log);
  let counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    counts = runtimes[name].counts(readFileSync(report, "utf8"));
  } catch (error) {
    console.error(`${name} left no readable report: ${(error as Error).message}`);
  }
  // A file that does not load, a crash, or no test at all is a failure that no test reports.
  if (counts.failed === 0 && (fault || counts.passed + counts.skipped === 0)) {
    const end = log === undefined ? "" : readFileSync(log, "utf8").split("\n").slice(-60).join("\n");
    counts = {
      ...counts,
      failed: 1,
      failures: [{ name: fault ? `${fault}, no test failed` : "no test ran", report: end, file: undefined }],
    };
  }
  rmSync(folder, { recursive: true });
  return counts;
}

/** Most failures after which their files are run again. */
const MOST_REPEATED = 5;

/** Failures of a runtime's tests that passed when their files ran again with nothing beside them. */
const passedAlone: { readonly name: string; readonly failure: Failure }[] = [];

type Job = () => Promise<void>;

/**
 * Runs all parts, and what is to run before them, {@linkcode LANES} at a time. Where but a few tests failed, their files
 * run once more, one runtime after the other: some tests time what they test, and come too late when something else takes
 * the machine. What fails again has failed; the others are told by name, as they may race.
 */
async function runParts(parts: readonly Part[], before: readonly Job[]): Promise<Map<string, Counts>> {
  const counted = new Map<Part, Counts>();
  const waiting = [
    ...before,
    ...parts.map((part) => async () => {
      counted.set(part, await runPart(part, parts.length === 1 ? "live" : "after"));
    }),
  ];
  const lane = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const failed = [...counted].filter(([, counts]) => counts.failed > 0);
  const failures = failed.reduce((count, [, counts]) => count + counts.failed, 0);
  for (const [part, former] of parts.length > 1 && failures <= MOST_REPEATED ? failed : []) {
    const files = filesOf(part, former.failures);
    const counts = await runPart({ ...part, files }, "after");
    // Of the other files it stays as it was.
    const others = former.passed + former.failed - counts.passed - counts.failed;
    const isWhole = files.length === part.files.length;
    counted.set(part, isWhole ? counts : { ...counts, passed: counts.passed + others, skipped: former.skipped });
    const names = new Set(counts.failures.map(({ name }) => name));
    for (const failure of former.failures) if (!names.has(failure.name)) passedAlone.push({ name: part.name, failure });
  }
  const sums = new Map<string, Counts>();
  for (const [{ name }, counts] of counted) sums.set(name, sum(sums.get(name), counts));
  return sums;
}

/** The files of a part in which tests failed; all, if it is not known of one of them. */
function filesOf({ files }: Part, failures: readonly Failure[]): readonly string[] {
  const failed = failures.map((failure) => files.find((file) => `/${failure.file}`.endsWith(`/${file}`)));
  return failed.includes(undefined) ? files : files.filter((file) => failed.includes(file));
}

function sum(one: Counts | undefined, other: Counts): Counts {
  if (one === undefined) return other;
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    failures: [...one.failures, ...other.failures],
  };
}

/**
 * Runs a command of node_modules/.bin or the system, and prints what it does; says why it failed, if so.
 *
 * @param log A file for what is printed until the command has ended.
 */
async function runTests([command, ...args]: string[], log: string | undefined): Promise<string | undefined> {
  const line = `\n$ ${command} ${args.join(" ")}`;
  if (log === undefined) console.log(line);
  const output = log === undefined ? "inherit" : openSync(log, "w");
  const began = performance.now();
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter), NODE_COMPILE_CACHE: compiled };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", output, output], timeout: 25 * MINUTE });
  const fault = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => {
      resolve(code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}`);
    });
  });
  if (typeof output === "number") {
    closeSync(output);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`${line}\n${readFileSync(log!, "utf8")}\n(${seconds} s)\n`);
  }
  return fault;
}

/** Runs the static checks, one after the other: two compilers at a time would want too much memory. */
async function checkAll(): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const folder = mkdtempSync(join(tmpdir(), "millrace-check-"));
  for (const [name, command] of Object.entries(checks)) {
    const log = join(folder, "log");
    if (await runTests(command, log) === undefined) counts.passed++;
    else {
      counts.failed++;
      const report = readFileSync(log, "utf8").split("\n").slice(-60).join("\n");
      counts.failures.push({ name, report, file: undefined });
    }
  }
  rmSync(folder, { recursive: true });
  return counts;
}

function line({ passed, failed, skipped }: Omit<Counts, "failures">): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

const words = process.argv.slice(2);
const named = words.filter((word) => word in runtimes);
const options = words.filter((word) => word.startsWith("--"));
const prefixes = words.filter((word) => !named.includes(word) && !options.includes(word))
  .map((prefix) => prefix.replace(/^\.\//, ""));
const [, isChanged, base] = /(--changed)(?:=(.+))?$/.exec(options.join(" ")) ?? [];
if (options.includes("--long")) process.env.MILLRACE_LONG = "1";

/** The test files that the command line asks for. */
function chosenFiles(): string[] {
  const all = globSync("tests/**/*_test.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/")).sort();
  const below = all.filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)));
  return isChanged ? testsOf(changedFiles(root, base), below, readGraph(root)) : below;
}

const files = chosenFiles();
if (files.length === 0) {
  console.error(isChanged ? "nothing changed that has tests" : `no test file starts with ${prefixes.join(" or ")}`);
  process.exit(isChanged ? 0 : 2);
}

const results = new Map<string, Counts>();
const chosen = named.length > 0 ? named : isChanged ? ["node"] : Object.keys(runtimes);
const isWhole = named.length === 0 && prefixes.length === 0 && !isChanged;
const check = async (): Promise<void> => void results.set("checks", await checkAll());
const counted = await runParts(partsOf(chosen, files), isWhole ? [check] : []);
for (const name of chosen) results.set(name, counted.get(name)!);

/** Most failures whose reports are printed again. */
const MOST_REPORTS = 25;

console.log();
const total = { passed: 0, failed: 0, skipped: 0 };
// Once more at the end, where they are looked for: thousands of lines stand between, and CI cuts long logs.
for (const { name, failure } of passedAlone) {
  console.log(`${name}: failed beside others, passed alone: ${failure.name}\n${shortened(failure.report)}\n`);
}
const failures = [...results].flatMap(([name, counts]) => counts.failures.map((failure) => ({ ...failure, in: name })));
for (const failure of failures.filter(({ report }) => report !== "").slice(0, MOST_REPORTS)) {
  console.log(`== ${failure.in} failed: ${failure.name}\n${shortened(failure.report).replaceAll(/^(?=.)/gm, "  ")}\n`);
}
for (const failure of failures) console.log(`${failure.in} failed: ${failure.name}`);
for (const [name, counts] of results) {
  for (const key of ["passed", "failed", "skipped"] as const) total[key] += counts[key];
  if (results.size > 1) console.log(`${name}: ${line(counts)}`);
}
console.log(line(total));
process.exitCode = total.failed > 0 ? 1 : 0;
