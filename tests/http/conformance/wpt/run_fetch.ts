import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root as repository, runtime } from "../../../support/runtime.ts";
import { within } from "../../../support/waits.ts";
import { runProcess } from "../../../wpt/run_suite.ts";

const here = join(repository, "tests/http/conformance/wpt");
/** Seconds that a file of tests may take. */
const PATIENCE = 20;
/** Processes at a time. */
const POOL = 2;

/** The folders of tests that run, without those of `idlharness` and those over HTTP/2 only. */
const FOLDERS = "fetch/{api,content-encoding,h1-parsing,data-urls}/**/*.{any,window}.js";

/** The results of each subtest, natively and with this package, by `file: name`. */
export interface Comparison {
  readonly native: Map<string, boolean>;
  readonly ours: Map<string, boolean>;
  /** The messages of failed subtests with this package's client. */
  readonly messages: Map<string, string>;
}

/** Returns the test files that call fetch() and need no page. */
function filesOf(root: string): string[] {
  return globSync(FOLDERS, { cwd: root }).map((path) => path.replaceAll("\\", "/")).sort().filter((path) => {
    const code = readFileSync(join(root, path), "utf8");
    return /fetch\(|fetch-|utils|META: script/.test(code) && !/idlharness|\.h2\.|document\./.test(path + code);
  });
}

/**
 * Runs each test file twice on this runtime: with its own fetch, and with a client's.
 *
 * @param filter Only files that have this in their path.
 */
export async function compareFetch(root: string, filter = ""): Promise<Comparison> {
  const node = runtime === "node" ? process.execPath : join(repository, "node_modules/.bin/node");
  const server = spawn(node, ["--no-warnings", join(here, "server.ts"), root], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const comparison: Comparison = { native: new Map(), ours: new Map(), messages: new Map() };
  try {
    const told = await within(
      new Promise<string>((resolve) => server.stdout.once("data", (text) => resolve(String(text)))),
      "the server",
    );
    const ports = told.trim().split(" ");
    // Replaces ports, so that the name is equal in every run.
    const named = (text: string): string =>
      ports.reduce((name, port, i) => name.replaceAll(`:${port}`, `:PORT${i + 1}`), text);
    const runs = filesOf(root).filter((file) => file.includes(filter))
      .flatMap((file) => (["native", "ours"] as const).map((mode) => ({ file, mode }))).values();
    await Promise.all(Array.from({ length: POOL }, async () => {
      for (const { file, mode } of runs) {
        const child = join(here, "child.ts");
        const { subtests, faults } = await runProcess(runtime, [
          child,
          root,
          file,
          mode,
          ...ports,
          String(PATIENCE),
        ]);
        for (const { name, status, message } of subtests) {
          comparison[mode].set(`${file}: ${named(name)}`, status === "passed");
          if (mode === "ours") comparison.messages.set(`${file}: ${named(name)}`, message);
        }
        for (const fault of faults) comparison[mode].set(`${file}: fault: ${named(fault.split("\n")[0]!)}`, false);
      }
    }));
  } finally {
    server.kill();
  }
  return comparison;
}

/** Returns the subtests that only the client's fetch fails, and its faults outside of subtests, by `file: name`. */
export function lostIn({ native, ours }: Comparison): string[] {
  const lost = [...native].filter(([name, passed]) => passed && !ours.get(name)).map(([name]) => name);
  // Faults beside subtests, such as an unhandled rejection, have no name that both have.
  const faults = [...ours].filter(([name, passed]) => !passed && name.includes(": fault: ") && !native.has(name))
    .map(([name]) => name);
  return [...lost, ...faults];
}
