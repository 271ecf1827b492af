import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Marks in a test file for which no other may be in its process, with the reason. */
const marksOfTests: readonly (readonly [RegExp, string])[] = [
  [/^(?:before|beforeEach|afterEach)\(/m, "its hooks would run for the tests of other files"],
  [
    /^(?:(?:export )?(?:const|let) (?:\w+|\{[^}]*\})(?:(?!=>)[^;\n])*\b)?await /m,
    "tests of other files would begin while it loads",
  ],
];

/** Marks in a test file, or in a module of `tests/` that it imports. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/\bprocess\.(?:on|once|prependListener)\(/, "it listens to events of its process, which hides them from others"],
  [/\bprocess\.(?:chdir|umask|exit|abort|setUncaughtExceptionCaptureCallback)\(/, "it changes its process"],
  [/\bprocess\.env(?:\.\w+|\[\w+\]) = |\bdelete process\.env/, "it changes the environment"],
  [/\bglobalThis(?:\.\w+|\[\w+\]) = |\b(?:defineProperty|assign)\(globalThis\b|\bsetGlobal\w+\(/, "it changes globals"],
  [/["/]lib\/streams\/install\.ts"/, "it replaces globals"],
  [/\bmock\.(?:timers|method)\b|\bperformance\.now = /, "it replaces what other tests use"],
  [/\b(?:memoryUsage|cpuUsage|getActiveResourcesInfo)\(|\/proc\/self\b/, "it measures its process"],
  [/\/garbage\.ts"/, "it collects the garbage of its process"],
];

/**
 * Tells why a test file must not share its process with others, or undefined if it may: whatever changes, watches or
 * measures its process shows it by a mark in the source.
 *
 * @param path Its path from `root`, with slashes.
 */
export function reasonForOwnProcess(root: string, path: string): string | undefined {
  if (path.startsWith("tests/e2e/")) return "its browsers and servers would stay until the last test of the process";
  // Beside others it got zstd for dcz once.
  if (path === "tests/compression/dictionaries_test.ts") return "its dictionaries have to be there in time";
  const own = marksOfTests.find(([mark]) => mark.test(sourceOf(root, path)));
  if (own !== undefined) return own[1];
  for (const module of modulesOf(root, path)) {
    const found = marks.find(([mark]) => mark.test(sourceOf(root, module)));
    if (found !== undefined) return found[1];
  }
  return undefined;
}

/** Lists a test and the modules of `tests/` that it imports, however far away. Those of processes that it starts are none. */
function modulesOf(root: string, path: string): Set<string> {
  const modules = new Set([path]);
  for (const module of modules) {
    for (const [, name] of sourceOf(root, module).matchAll(/(?:\bfrom|\bimport) ?\(?"(\.\.?\/[^"]+)"/g)) {
      const imported = posix.join(posix.dirname(module), name);
      if (imported.startsWith("tests/") && imported.endsWith(".ts") && existsSync(join(root, imported))) {
        modules.add(imported);
      }
    }
  }
  return modules;
}

const sources = new Map<string, string>();

/** The source of a module without its comments. */
function sourceOf(root: string, module: string): string {
  const path = join(root, module);
  let text = sources.get(path);
  if (text === undefined) {
    text = readFileSync(path, "utf8").replace(/^\s*(?:\/\*[^]*?\*\/|\/\/.*$)/gm, "");
    sources.set(path, text);
  }
  return text;
}
