import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/**
 * The paths of the test files of streams, text streams among them, below `root`, in order, with forward slashes. Other files than `*.any.js` (`*.html`,
 * `*.window.js`) need a window, mostly for its frames and their realms.
 */
export function testFiles(root: string): string[] {
  return globSync(["streams/**/*.any.js", "encoding/streams/*.any.js"], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
}

/** What the suite's own server serves under another name. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["resources/WebIDLParser.js", "resources/webidl2/lib/webidl2.js"],
]);

/** The text of the suite's file at `path`. */
export function sourceOf(root: string, path: string): string {
  return readFileSync(join(root, aliases.get(path) ?? path), "utf8");
}

/** A script of the suite with the name that stack traces show. */
export interface Script {
  readonly path: string;
  readonly code: string;
}

/**
 * The scripts that make up the test file at `path`, in the order in which a browser would load them.
 *
 * @see {@link https://web-platform-tests.org/writing-tests/testharness.html#multi-global-tests}
 */
export function scriptsOf(root: string, path: string): Script[] {
  const read = (each: string): Script => ({ path: each, code: sourceOf(root, each) });
  const file = read(path);
  const needed = [...file.code.matchAll(/^\/\/ META: script=(\S+)$/gm)].map(([, script]) => {
    return script!.startsWith("/") ? script!.slice(1) : posix.join(dirname(path), script!);
  });
  return ["resources/testharness.js", ...needed].map(read).concat(file);
}

/** Whether anything is piped in the test file at `path`: if not, it says nothing of what pipes. */
export function isPiping(root: string, path: string): boolean {
  const [, ...scripts] = scriptsOf(root, path);
  return scripts.some(({ code }) => /\bpipe(?:To|Through)\b/.test(code));
}
