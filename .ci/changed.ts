import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Folders below `tests/` that go through all of the package: a change elsewhere does not choose them. */
const WHOLE = /^tests\/(?:bench|browser|ci|docs|e2e|fuzz|interop|soak|wpt)\/|\/(?:faults|soak|hostile|model)\//;

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
 * Picks the tests that a change calls for: those beside what changed (`tests/codecs/` for `lib/codecs/`), and those that
 * import it, however far away. Tests of the whole package are picked only if they changed themselves.
 */
export function testsOf(changed: readonly string[], tests: readonly string[], graph: Graph): string[] {
  const folders = new Set(changed.flatMap((path) => /^(?:lib|tests)\/([^/]+)\//.exec(path)?.[1] ?? []));
  folders.delete("support");
  const files = new Set(changed);
  return tests.filter((test) => {
    const isBeside = folders.has(/^tests\/([^/]+)\//.exec(test)?.[1] ?? "");
    return files.has(test) || isBeside ||
      (!WHOLE.test(test) && [...reached(test, graph)].some((file) => files.has(file)));
  });
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

function reached(start: string, graph: Graph): Set<string> {
  const seen = new Set([start]);
  for (const path of seen) for (const name of graph.get(path) ?? []) seen.add(name);
  return seen;
}
