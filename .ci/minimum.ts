/**
 * Runs a choice of the tests on the oldest versions of Node, Deno and Bun that the package promises, and compiles its
 * types with the oldest TypeScript. It installs them (500 MB) into `node_modules/.cache/minimum`, of the versions that
 * `.ci/minimum/package.json` pins.
 *
 *   node .ci/minimum.ts                        everything
 *   node .ci/minimum.ts bun types              only these
 *   node .ci/minimum.ts deno tests/static      tests whose path starts so, chosen or not
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chosen } from "./minimum/chosen.ts";
import { knownFailures } from "./minimum/known_failures.ts";
import type { Outcome } from "./minimum/node_test.ts";
import { checkTypes } from "./minimum/types.ts";
import { nodeCounts } from "./test_counts.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const parts = join(root, ".ci/minimum");
const cache = join(root, "node_modules/.cache/minimum");
const bin = join(cache, "node_modules/.bin");
const MINUTE = 60_000;

/**
 * Installs the packages of the lockfile, unless they are there; `npm ci` would require the packages of every platform.
 */
function install(): void {
  const lock = readFileSync(join(parts, "package-lock.json"), "utf8");
  const mark = join(cache, "installed.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(parts, name), join(cache, name));
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund"], { cwd: cache, stdio: "inherit" });
  if (status !== 0) process.exit(1); // npm has said why
  writeFileSync(mark, lock);
}

/** Writes Deno's configuration: the project's, with this folder's `node:test`; returns it as Deno's argument. */
function writeDenoConfiguration(): string {
  const { imports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const nodeTest = pathToFileURL(join(parts, "node_test.ts")).href;
  const path = join(cache, "deno.json");
  const whole = Object.entries<string>(imports).map(([name, target]) =>
    [name, target.startsWith("./") ? pathToFileURL(join(root, target)).href : target] as const
  );
  const configuration = {
    imports: { ...Object.fromEntries(whole), "node:test": nodeTest },
    nodeModulesDir: "manual",
    lock: false,
  };
  writeFileSync(path, JSON.stringify(configuration));
  return `--config=${path}`;
}

interface Runtime {
  readonly command: (file: string) => readonly string[];
  readonly outcome: (output: string) => Outcome;
}

const runFile = join(parts, "run_file.ts");
const lastLine = (output: string): Outcome => JSON.parse(output.slice(output.trimEnd().lastIndexOf("\n") + 1));

const runtimes: Readonly<Record<string, Runtime>> = {
  node: {
    command: (file) => {
      const reporters = ["--test-reporter=spec", "--test-reporter-destination=stderr"];
      const json = ["--test-reporter=./.ci/node_reporter.ts", "--test-reporter-destination=stdout"];
      return ["node", "--test", ...reporters, ...json, file];
    },
    outcome: (output) => {
      const counts = nodeCounts(output);
      return { ...counts, failures: counts.failures.map(({ name }) => name) };
    },
  },
  deno: {
    command: (file) => ["deno", "run", "-A", "--no-check", writeDenoConfiguration(), runFile, file],
    outcome: lastLine,
  },
  bun: {
    command: (file) => ["bun", "--preload", join(parts, "on_bun.ts"), runFile, file],
    outcome: lastLine,
  },
};

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly fault: string | undefined;
}

/** Runs a command of the old versions to its end. */
function run([command, ...args]: readonly string[]): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: "1", PATH: [bin, process.env.PATH].join(delimiter) };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], timeout: 3 * MINUTE });
  const output = { stdout: "", stderr: "" };
  child.stdout!.setEncoding("utf8").on("data", (text: string) => output.stdout += text);
  child.stderr!.setEncoding("utf8").on("data", (text: string) => output.stderr += text);
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve({ ...output, fault: message }));
    child.once("close", (code, signal) => {
      resolve({ ...output, fault: code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}` });
    });
  });
}

/** Runs files on a runtime, one after the other, and prints the failures. Known failures count as skipped. */
async function testOn(name: string, files: readonly string[]): Promise<Outcome> {
  const total: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const file of files) {
    const { stdout, stderr, fault } = await run(runtimes[name].command(file));
    const { passed, skipped, failures } = outcomeOf(() => runtimes[name].outcome(stdout), fault);
    const unknown = failures.filter((failure) =>
      // A file that does not load, or crashes, fails whatever tests of it are known to.
      failure === fault ||
      !knownFailures.some((known) => known.runtime === name && file === known.file && known.test.test(failure))
    );
    if (unknown.length > 0) console.log(`\n${name} failed: ${file}: ${unknown.join("; ")}\n${stdout}${stderr}`);
    total.passed += passed;
    total.failed += unknown.length;
    total.skipped += skipped + failures.length - unknown.length;
  }
  return total;
}

/** Returns the outcome a file's run reported; a run that crashed or timed out counts as one failure. */
function outcomeOf(told: () => Outcome, fault: string | undefined): Outcome {
  try {
    const outcome = told();
    if (fault === undefined || outcome.failed > 0) return outcome;
    return { ...outcome, failures: [fault] };
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: [fault ?? "it told nothing"] };
  }
}

/** Compiles modules that use the types. */
function checkBuiltTypes(): Promise<Outcome> {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
  if (status !== 0) return Promise.resolve({ passed: 0, failed: 1, skipped: 0, failures: ["the build"] });
  const consumer = join(cache, "consumer");
  rmSync(consumer, { recursive: true, force: true });
  mkdirSync(join(consumer, "node_modules/@millrace"), { recursive: true });
  symlinkSync(root, join(consumer, "node_modules/@millrace/streams"), "junction");
  return checkTypes(consumer, join(cache, "node_modules"), (...args) => run([join(bin, "tsc"), ...args]));
}

const words = process.argv.slice(2).map((word) => word.replace(/^\.\//, ""));
const prefixes = words.filter((word) => word.startsWith("tests"));
const named = words.filter((word) => !word.startsWith("tests"));
const known = [...Object.keys(runtimes), "types"];
const wrong = named.filter((word) => !known.includes(word));
if (wrong.length > 0) {
  console.error(`there is no ${wrong.join(", ")}: say ${known.join(", ")} or a path that starts with tests`);
  process.exit(2);
}
const files = prefixes.length === 0
  ? [...chosen]
  : globSync("tests/**/*_test.ts", { cwd: root }).sort().filter((file) => prefixes.some((one) => file.startsWith(one)));

install();
const wanted = named.length > 0 ? named : known;
const total: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [] };
const outcomes = await Promise.all(wanted.map(async (name) => {
  return [name, name === "types" ? await checkBuiltTypes() : await testOn(name, files)] as const;
}));
for (const [name, outcome] of outcomes) {
  console.log(`${name}: ${line(outcome)}`);
  for (const key of ["passed", "failed", "skipped"] as const) total[key] += outcome[key];
}
console.log(line(total));
process.exitCode = total.failed > 0 ? 1 : 0;

function line({ passed, failed, skipped }: Outcome): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
