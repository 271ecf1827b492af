/**
 * Runs the static checks and every test on the runtimes that the test needs, continues after a failure, and prints the
 * errors of all failures and one line at the end: `N passed, N failed`. Many files run in parts, some at the same time,
 * since most tests wait more than they compute.
 *
 *   npm test                                everything that a change needs
 *   npm run test:bun -- tests/codecs        one runtime, tests whose path starts so
 *   npm test -- --changed                   on Node, the tests of what differs from main
 *   npm test -- --changed=COMMIT deno       on Deno, the tests of what differs from a commit
 *   npm run test:long                       everything on Node, Bun and Deno, random programs in their full number
 *
 * On Windows, tests that no path names are those of `.ci/systems/chosen.ts`, without static checks: the others compute the
 * same on each system, or were written for POSIX.
 */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { changedFiles, readGraph, testsOf } from "./changed.ts";
import { root } from "./root.ts";
import { canRunTests, isWindows, isWine, judgedHere, systemTests } from "./systems/windows.ts";
import { type Counts, type Failure, shortened } from "./test_counts.ts";
import { partsOf, partsOfLongTerm } from "./test_parts.ts";
import { isLong, type Part, runPart, runTests, runtimes, searchPath } from "./test_part.ts";
import { isForPlainForm, runtimesOf } from "./test_runtimes.ts";

const checks: Readonly<Record<string, string[]>> = {
  format: ["deno", "fmt", "--check"],
  lint: ["deno", "lint"],
  // More checkers check much of the same.
  "types (tsc)": ["tsc", "--noEmit", "--checkers", "1"],
  "manifests, docs and no slow types": ["npm", "run", "--silent", "check:built"],
  // Tests of the packages have types checked as their users do, and Deno's those of JSR.
  ...isLong && {
    "types (deno)": ["deno", "check", "mod.ts", "lib"],
    "types of the package": ["npm", "run", "--silent", "check:types"],
  },
};

/**
 * The number of parts that run at a time: a part uses a processor for some 0.3 of its time, and waits for the rest. Wine
 * does most of its work in one thread.
 */
const LANES = isWine ? 1 : Math.floor(3.5 * availableParallelism());

/** The highest number of parts beside these, which begin while processors are idle; a part takes some 200 MB. */
const MOST_ADDITIONAL = isWine ? 0 : LANES;

/** The share of the processors' time from which they are idle, and the time over which it is measured, in ms. */
const IDLE = { share: 0.1, time: 2000 };

/** The number of failures up to which their files are run again. */
const MOST_REPEATED = 5;

/** Failures of a runtime's tests that passed when their files ran again with nothing beside them. */
const passedAlone: { readonly name: string; readonly failure: Failure }[] = [];

type Job = () => Promise<void>;

/** Returns how long the processors were idle, of which time, since the system began, in ms. */
function idleTime(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times }) => times);
  const all = times.flatMap((each) => Object.values(each)).reduce((sum, time) => sum + time, 0);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all };
}

/**
 * Runs all parts and the jobs before them, {@linkcode LANES} at a time, and one more each time that the processors were
 * idle for a tenth of two seconds: how long a part waits depends on the machine. If few tests failed, their files run
 * once more, one runtime after the other: some tests measure time and fail on a busy machine. A second failure counts;
 * the other tests are listed by name, as they may race.
 */
async function runParts(parts: readonly Part[], before: readonly Job[]): Promise<Map<string, Counts>> {
  const counted = new Map<Part, Counts>();
  const waiting = [
    ...before,
    ...parts.map((part) => async () => {
      await built;
      counted.set(part, judgedHere(await runPart(part, parts.length === 1 ? "live" : "after")));
    }),
  ];
  // Files that compute are at the beginning, and files that wait are at the end: running both kinds at once keeps the
  // processors busy.
  const lane = async (next: () => Job | undefined): Promise<void> => {
    for (let job = next(); job !== undefined; job = next()) await job();
  };
  const takers = [() => waiting.shift(), () => waiting.pop()];
  const lanes = Array.from({ length: LANES }, (_, i) => lane(takers[i % takers.length]));
  await built;
  let additional = 0;
  for (let before = idleTime(); waiting.length > 0;) {
    await sleep(IDLE.time);
    const { idle, all } = idleTime();
    const isIdle = idle - before.idle > IDLE.share * (all - before.all);
    before = { idle, all };
    const job = isIdle && additional < MOST_ADDITIONAL ? waiting.shift() : undefined;
    if (job === undefined) continue;
    additional++;
    lanes.push(job().finally(() => additional--));
  }
  await Promise.all(lanes);
  const failed = [...counted].filter(([, counts]) => counts.failed > 0);
  const failures = failed.reduce((count, [, counts]) => count + counts.failed, 0);
  for (const [part, former] of parts.length > 1 && failures <= MOST_REPEATED ? failed : []) {
    const files = filesOf(part, former.failures);
    const counts = judgedHere(await runPart({ ...part, files, isShared: false, isAgain: true }, "after"));
    // The results of the other files stay as they were.
    const others = former.passed + former.failed - counts.passed - counts.failed;
    const isWhole = files.length === part.files.length;
    counted.set(part, isWhole ? counts : { ...counts, passed: counts.passed + others, skipped: former.skipped });
    const names = new Set(counts.failures.map(({ name }) => name));
    for (const failure of former.failures) {
      // A process that failed as a whole is reported by its file.
      const isTold = names.has(failure.name) || (fileOf(part, failure) === undefined && counts.failed > 0);
      if (!isTold) passedAlone.push({ name: part.name, failure });
    }
  }
  const sums = new Map<string, Counts>();
  for (const [{ name }, counts] of counted) sums.set(name, sum(sums.get(name), counts));
  return sums;
}

/** Returns the files of a part with failed tests; all, if a failure's file is unknown. */
function filesOf(part: Part, failures: readonly Failure[]): readonly string[] {
  const failed = failures.map((failure) => fileOf(part, failure));
  return failed.includes(undefined) ? part.files : part.files.filter((file) => failed.includes(file));
}

function fileOf({ files }: Part, failure: Failure): string | undefined {
  return files.find((file) => `/${failure.file?.replaceAll("\\", "/")}`.endsWith(`/${file}`));
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

/** Builds the package once for all tests, and into `dist/` for the checks; the tests would build it themselves. */
async function buildOnce(): Promise<void> {
  const { builtPackage } = await import("../tests/support/built_package.ts");
  const built = await builtPackage();
  rmSync(join(root, "dist"), { recursive: true, force: true });
  cpSync(built, join(root, "dist"), { recursive: true });
  process.env.MILLRACE_BUILT = built;
}

/** Runs the static checks, one after the other: two compilers at a time would want too much memory. */
async function checkAll(): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const fault = await built;
  if (fault !== undefined) {
    counts.failed++;
    counts.failures.push({ name: "the build", report: fault, file: undefined });
  }
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
if (isLong) process.env.MILLRACE_LONG = "1";

/** Returns the test files that the command line asks for. */
function chosenFiles(): string[] {
  if (isWindows && prefixes.length === 0 && !isChanged) return systemTests();
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
const wanted = named.length > 0 ? named : isChanged ? ["node"] : Object.keys(runtimes);
const chosen = wanted.filter((name) => canRunTests(name, searchPath));
const isWhole = named.length === 0 && prefixes.length === 0 && !isChanged && !isWindows;
/** Why the package cannot be built, if so, once it has been. */
const built: Promise<string | undefined> | undefined = isWhole
  ? buildOnce().then(() => undefined, (error: Error) => error.message)
  : undefined;
const check = async (): Promise<void> => void results.set("checks", await checkAll());
// A file's own list of runtimes only applies to runs without the name of a runtime.
const isOn = (name: string, file: string): boolean => named.length > 0 || isLong || runtimesOf(file).includes(name);
const filesOn = new Map(
  chosen.map((name) => [name, files.filter((file) => isOn(name, file))] as const).filter(([, { length }]) =>
    length > 0
  ),
);
const plainParts = [...filesOn].map(([name, files]): Part => {
  const environment = { MILLRACE_PLAIN: "1" };
  return { name, files: files.filter((file) => isForPlainForm(file, isLong)), isShared: true, environment };
});
const withPlain = isWhole ? plainParts.filter(({ files }) => files.length > 0) : [];
const longTerm = isWhole ? partsOfLongTerm(LANES) : [];
const parts = [...withPlain, ...longTerm, ...partsOf(filesOn, LANES)];
const counted = await runParts(parts, isWhole ? [check] : []);
for (const name of filesOn.keys()) results.set(name, counted.get(name)!);

/** The number of failures whose reports are printed again. */
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
