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

/** The name under which all test files of compression run together. */
export const COMPRESSION = "compression/";

/**
 * The paths of the test files of compression below `root`; none if it has none. Those for windows alone need of these
 * only that a buffer can be transferred.
 */
export function compressionFiles(root: string): string[] {
  return globSync("compression/*.{any,window}.js", { cwd: root }).map((path) => path.replaceAll("\\", "/")).sort();
}

/** Returns the code before a file: it gives the file's tests their name, and supports tests that patch `then`. */
function prelude(path: string): string {
  return `
const name = (text) => text + ${JSON.stringify(` (${path})`)};
const { defineProperty } = globalThis.Object;
const Object = new Proxy(globalThis.Object, {
  get: (all, key) => key !== "defineProperty" ? all[key] : (object, key, property) => {
    return defineProperty(object, key, key === "then" ? { ...property, configurable: true } : property);
  },
});
const test = (steps, text) => globalThis.test(steps, name(text));
const async_test = (steps, text) => globalThis.async_test(steps, name(text));
const promise_test = (steps, text) => globalThis.promise_test((t) => {
  t.add_cleanup(() => void delete Object.prototype.then);
  return steps(t);
}, name(text));
`;
}

/** The files that the suite's own server serves under another name. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["resources/WebIDLParser.js", "resources/webidl2/lib/webidl2.js"],
]);

/** Returns the text of the suite's file at `path`. */
export function sourceOf(root: string, path: string): string {
  return readFileSync(join(root, aliases.get(path) ?? path), "utf8");
}

/** A script of the suite with the name that stack traces show. */
export interface Script {
  readonly path: string;
  readonly code: string;
}

/**
 * The scripts that make up the test file at `path`, in the order in which a browser would load them, but those whose
 * paths match `without`.
 *
 * @see {@link https://web-platform-tests.org/writing-tests/testharness.html#multi-global-tests}
 */
export function scriptsOf(root: string, path: string, without?: RegExp): Script[] {
  const read = (each: string): Script => ({ path: each, code: sourceOf(root, each) });
  const file = read(path);
  const needed = [...file.code.matchAll(/^\/\/ META: script=(\S+)$/gm)].map(([, script]) => {
    return script!.startsWith("/") ? script!.slice(1) : posix.join(dirname(path), script!);
  }).filter((script) => !without?.test(script));
  return ["resources/testharness.js", ...needed].map(read).concat(file);
}

/**
 * The scripts that run several test files at once, which share the scripts that they need, except those of their own folder
 * and those that make tests: a process for each file would take longer than its tests. The name of a test ends with its
 * file's, see {@linkcode fileOfTest}.
 */
export function scriptsTogether(root: string, files: readonly string[], without?: RegExp): Script[] {
  const shared = new Map<string, Script>();
  const tests = files.map((path) => {
    const own: string[] = [];
    for (const script of scriptsOf(root, path, without)) {
      const isOwn = script.path.startsWith(`${dirname(path)}/`) || /^\s+(?:promise_)?test\(/m.test(script.code);
      if (isOwn && !script.path.startsWith("resources/")) own.push(script.code);
      else shared.set(script.path, script);
    }
    const strict = /^\s*(['"])use strict\1/m.test(own.at(-1)!) ? `"use strict";` : "";
    return { path, code: `(() => {${strict}${prelude(path)}${own.join("\n")}\n})();` };
  });
  return [...shared.values(), ...tests];
}

/** Returns the file of a test of {@linkcode scriptsTogether} and its name there. */
export function fileOfTest(name: string): readonly [file: string | undefined, name: string] {
  const [, own, file] = /^(.*) \((\S+)\)$/s.exec(name) ?? [];
  return [file, own ?? name];
}

/** The scripts of all test files of compression. Pako, which Debian's copy of the suite lacks, is for the caller to provide. */
export function compressionScripts(root: string): Script[] {
  return scriptsTogether(root, compressionFiles(root), /\/pako\//);
}

/** Whether the test file at `path` pipes anything; otherwise it can't test pipes. */
export function isPiping(root: string, path: string): boolean {
  const [, ...scripts] = scriptsOf(root, path);
  return scripts.some(({ code }) => /\bpipe(?:To|Through)\b/.test(code));
}
