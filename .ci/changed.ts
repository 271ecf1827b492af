import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { chosen } from "./minimum/chosen.ts";

/** Tests of the whole package, and kinds that take long: a change elsewhere does not choose them. */
const LONG =
  /^tests\/(?:bench|browser|ci|docs|e2e|examples|fuzz|interop|soak|wpt)\/|\/(?:faults|soak|hostile|model)\/|(?:killed|model)(?:_isolated)?_test\.ts$/;

/**
 * The tests that represent their folders: those for the oldest versions, and a few of each folder that has no such
 * tests.
 */
export const quickTests: readonly string[] = [
  ...chosen,
  ...[
    "analyze/analyze",
    "build/esbuild",
    "cli/flags",
    "cli/usage",
    "frameworks/frameworks_isolated",
    "pages/page_references",
  ],
  ...["pino/log_destination_isolated", "report/report", "s3/objects"],
].map((name) => name.startsWith("tests/") ? name : `tests/${name}_test.ts`);

/**
 * Lists the files that differ from a commit, those that git does not track yet included.
 *
 * @param base The commit; by default where the branch left the branch it follows, `origin/main` or `main`.
 */
export function changedFiles(root: string, base: string = branchPoint(root)): string[] {
  const differing = git(root, "diff", "--name-only", "--no-renames", base, "--");
  return [...new Set([...differing, ...git(root, "ls-files", "--others", "--exclude-standard")])].sort();
}

function branchPoint(root: string): string {
  for (const upstream of ["@{upstream}", "origin/main", "main"]) {
    try {
      return git(root, "merge-base", "HEAD", upstream)[0];
    } catch {
      // there is no such branch
    }
  }
  return "HEAD";
}

function git(root: string, ...args: string[]): string[] {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .split("\n").filter((line) => line !== "");
}

/**
 * Picks the tests that a change calls for, so few that they take about a minute: those beside what changed
 * (`tests/codecs/` for `lib/codecs/`), of the folders that import it only the quick ones, and those that use a module of
 * `tests/` that changed. Of modules of `tests/support/`, too, only quick ones are picked, and tests that take long only
 * if they changed themselves.
 *
 * @param quick The tests that represent their folders.
 */
export function testsOf(
  changed: readonly string[],
  tests: readonly string[],
  graph: Graph,
  quick: readonly string[] = quickTests,
): string[] {
  const code = changed.filter((path) => path.endsWith(".ts"));
  const files = new Set(code);
  const folders = new Set(code.flatMap((path) => libraryFolder(path) ?? []));
  const users = new Set([...graph].flatMap(([path, names]) => {
    return names.some((name) => folders.has(libraryFolder(name) ?? "")) ? libraryFolder(path) ?? [] : [];
  }));
  if (folders.size > 0) folders.add("architecture");
  if (code.some((path) => path.startsWith(".ci/"))) folders.add("ci");
  return tests.filter((test) => {
    const used = [...modulesOf(test, graph)].filter((module) => files.has(module));
    const folder = /^tests\/([^/]+)\//.exec(test)?.[1] ?? "";
    if (used.some((module) => !module.startsWith("tests/support/"))) return true;
    if (folders.has(folder) && (folder === "ci" || !LONG.test(test))) return true;
    return quick.includes(test) && (users.has(folder) || used.length > 0);
  });
}

/** Returns the folder of `lib/` in which a file is. The main entry, `mod.ts`, counts as a folder. */
function libraryFolder(path: string): string | undefined {
  return path === "mod.ts" ? path : /^lib\/([^/]+)\//.exec(path)?.[1];
}

/** Files of the repository, each with those that it names: by an import, a URL or a path from the root. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** Reads which files name which others. */
export function readGraph(root: string): Graph {
  const paths = globSync("{mod.ts,{lib,tests,.ci}/**/*.ts}", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  return new Map(paths.map((path) => {
    // Comments name tests and pages, too.
    const text = readFileSync(join(root, path), "utf8").replace(/^\s*(?:\/\*[^]*?\*\/|\/\/.*$)/gm, "");
    const near = [...text.matchAll(/"(\.\.?\/[^"\s]+)"/g)].map(([, name]) => posix.join(posix.dirname(path), name));
    const far = [...text.matchAll(/["`]((?:lib|tests)\/[^"`\s$]+)["`]/g)].map(([, name]) => name);
    return [path, [...near, ...far].filter((name) => existsSync(join(root, name)))];
  }));
}

/** Returns a test and the modules of `tests/` that it needs, however far away. */
function modulesOf(test: string, graph: Graph): Set<string> {
  const modules = new Set([test]);
  for (const path of modules) {
    for (const name of graph.get(path) ?? []) if (name.startsWith("tests/")) modules.add(name);
  }
  return modules;
}
