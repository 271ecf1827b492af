/**
 * Runs the static checks and every test on Node, Bun and Deno, goes on after a failure, and ends with the errors of what failed and one
 * line for all: `N passed, N failed`. Many files run in parts, some at the same time, since most tests wait more than
 * they compute.
 *
 *   npm test                                everything
 *   npm run test:bun -- tests/codecs        one runtime, tests whose path starts so
 */
import { spawn, spawnSync, type SpawnSyncOptions } from "node:child_process";
import { closeSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
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
  "types (deno)": ["deno", "check"],
  "manifests, docs and no slow types": ["npm", "run", "--silent", "check:publish"],
};

/** Runs a command of node_modules/.bin or the system with the terminal as its own; says why it failed, if so. */
function run([command, ...args]: string[], minutes: number): string | undefined {
  console.log(`\n$ ${command} ${args.join(" ")}`);
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  const options: SpawnSyncOptions = {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: minutes * MINUTE,
  };
  const { status, signal, error } = spawnSync(command, args, options);
  if (status === 0) return undefined;
  return error ? error.message : signal ? `ended by ${signal}` : `exit code ${status}`;
}

/** Node's compiled modules: each test file is a process of its own, and many start others. */
const compiled = mkdtempSync(join(tmpdir(), "millrace-compiled-"));
process.once("exit", () => rmSync(compiled, { recursive: true, force: true }));

/** Files that one process runs, or one after the other. */
interface Part {
  readonly name: string;
  readonly files: readonly string[];
}

/** Most files of a part: small enough for parts to end at about the same time, on all processors. */
const MOST_FILES = 40;

/** The files for each runtime in parts. Each begins elsewhere, so that hardly any file runs twice at a time. */
function partsOf(names: readonly string[], files: readonly string[]): Part[] {
  const count = Math.ceil(files.length / MOST_FILES);
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
      failures: [{ name: fault ? `${fault}, no test failed` : "no test ran", report: end }],
    };
  }
  rmSync(folder, { recursive: true });
  return counts;
}

/** Most failures after which parts are run again. */
const MOST_REPEATED = 5;

/** Failures of a runtime's tests that passed when their part ran again with nothing beside it. */
const passedAlone: { readonly name: string; readonly failure: Failure }[] = [];

/**
 * Runs all parts, two for each processor at a time. Where but a few tests failed, their parts run once more, one by one:
 * some tests time what they test, and come too late when something else takes the machine. What fails again has failed;
 * the others are told by name, as they may race.
 */
async function runParts(parts: readonly Part[]): Promise<Map<string, Counts>> {
  const counted = new Map<Part, Counts>();
  const waiting = [...parts];
  const lane = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      counted.set(part, await runPart(part, parts.length === 1 ? "live" : "after"));
    }
  };
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, lane));
  const failed = [...counted].filter(([, counts]) => counts.failed > 0);
  const failures = failed.reduce((count, [, counts]) => count + counts.failed, 0);
  for (const [part, { failures: former }] of parts.length > 1 && failures <= MOST_REPEATED ? failed : []) {
    const counts = await runPart(part, "after");
    counted.set(part, counts);
    const names = new Set(counts.failures.map(({ name }) => name));
    for (const failure of former) if (!names.has(failure.name)) passedAlone.push({ name: part.name, failure });
  }
  const sums = new Map<string, Counts>();
  for (const [{ name }, counts] of counted) sums.set(name, sum(sums.get(name), counts));
  return sums;
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

/** As {@link run}, with what is printed in a file first if one is named. */
async function runTests([command, ...args]: string[], log: string | undefined): Promise<string | undefined> {
  const line = `\n$ ${command} ${args.join(" ")}`;
  if (log === undefined) console.log(line);
  const output = log === undefined ? "inherit" : openSync(log, "w");
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
    process.stdout.write(`${line}\n${readFileSync(log!, "utf8")}`);
  }
  return fault;
}

function checkAll(): Counts {
  const failed = Object.entries(checks).filter(([, command]) => run(command, 5) !== undefined).map(([name]) => name);
  const failures = failed.map((name) => ({ name, report: "" })); // printed above, at the beginning
  return { passed: Object.keys(checks).length - failed.length, failed: failed.length, skipped: 0, failures };
}

function line({ passed, failed, skipped }: Omit<Counts, "failures">): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

const named = process.argv.slice(2).filter((argument) => argument in runtimes);
const prefixes = process.argv.slice(2).filter((argument) => !(argument in runtimes))
  .map((prefix) => prefix.replace(/^\.\//, ""));
const files = globSync("tests/**/*_test.ts", { cwd: root }).sort()
  .filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)));
if (files.length === 0) {
  console.error(`no test file starts with ${prefixes.join(" or ")}`);
  process.exit(2);
}

const results = new Map<string, Counts>();
if (named.length === 0 && prefixes.length === 0) results.set("checks", checkAll());
const chosen = named.length > 0 ? named : Object.keys(runtimes);
const counted = await runParts(partsOf(chosen, files));
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
