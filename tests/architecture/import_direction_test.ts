import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { folderOf, type Module, ourModules, root } from "./module_graph.ts";

/** Folders whose modules run in browsers, too. */
const EVERYWHERE = ["streams", "batch", "text", "codecs"];

interface Layer {
  /** The folders that its modules may import. */
  readonly folders: readonly string[];
  /** The packages that its modules may import. */
  readonly packages: readonly string[];
}

/** The layers by their folders, as ARCHITECTURE.md has them; `mod.ts` is that without a name. */
const layers = layersOf(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"));

function layersOf(page: string): Map<string, Layer> {
  const rows = [...page.matchAll(/^\| `([\w.]+)` +\|[^|\n]*\|([^|\n]*)\|([^|\n]*)\|$/gm)];
  const listed = (cell: string): string[] => cell.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return new Map(rows.map(([, folder, folders, packages]) => {
    return [folder === "mod.ts" ? "" : folder, { folders: listed(folders), packages: listed(packages) }];
  }));
}

const modules = ourModules();

/** Lists `path imports other` for every import of `from` that `wrong` picks. */
function offending(from: readonly Module[], wrong: (module: Module, imported: string) => boolean): string[] {
  return from.flatMap((module) =>
    module.imports.filter((imported) => wrong(module, imported)).map((imported) => `${module.path} imports ${imported}`)
  );
}

const isOurs = (imported: string): boolean => imported.startsWith("lib/") || imported === "mod.ts";

test("every module is found with its imports", () => {
  assert.ok(modules.length > 5);
  assert.deepEqual(modules[0].imports, [
    "lib/batch/mod.ts",
    "lib/codecs/mod.ts",
    "lib/streams/mod.ts",
    "lib/text/mod.ts",
  ]);
  const known = new Set([...modules.map(({ path }) => path)]);
  const missing = offending(modules, (_, imported) => {
    return isOurs(imported) && !imported.startsWith("lib/codecs/wasm/") && !known.has(imported);
  });
  assert.deepEqual(missing, []);
});

test("ARCHITECTURE.md has a row for every folder, and no other", () => {
  const folders = new Set(modules.map(({ path }) => folderOf(path)));
  assert.deepEqual([...layers.keys()].sort(), [...folders].sort());
});

test("folders import only the folders below them", () => {
  const wrong = offending(modules, (module, imported) => {
    const [from, to] = [folderOf(module.path), folderOf(imported)];
    return isOurs(imported) && from !== to && !layers.get(from)?.folders.includes(to);
  });
  assert.deepEqual(wrong, []);
});

test("folders import each other only through mod.ts, or internal.ts, which users do not see", () => {
  const wrong = offending(modules, (module, imported) => {
    return isOurs(imported) && folderOf(module.path) !== folderOf(imported) &&
      !/^lib\/\w+\/(mod|internal)\.ts$/.test(imported);
  });
  assert.deepEqual(wrong, []);
});

test("nothing imports the command line", () => {
  const wrong = offending(modules, ({ path }, imported) => {
    return imported === "lib/cli/cli.ts" || (folderOf(imported) === "cli" && folderOf(path) !== "cli");
  });
  assert.deepEqual(wrong, []);
});

test("modules for every environment import nothing but ours, the others node: modules too", () => {
  const wrong = offending(modules, (module, imported) => {
    const folder = folderOf(module.path);
    if (folder === "" || EVERYWHERE.includes(folder)) return !isOurs(imported);
    const name = imported.split("/", imported.startsWith("@") ? 2 : 1).join("/");
    return !isOurs(imported) && !imported.startsWith("node:") && !layers.get(folder)?.packages.includes(name);
  });
  assert.deepEqual(wrong, []);
});

test("no module imports in a circle between folders", () => {
  const edges = new Set(
    modules.flatMap(({ path, imports }) =>
      imports.filter(isOurs).map((imported) => `${folderOf(path)} ${folderOf(imported)}`)
    ),
  );
  const circles = [...edges].filter((edge) => {
    const [from, to] = edge.split(" ");
    return from !== to && edges.has(`${to} ${from}`);
  });
  assert.deepEqual(circles, []);
});

test("only lib/runtime asks which runtime this is", () => {
  const questions = [
    /\b(?:globalThis|self|window)\s*(?:\?\.|\.|\[")(?:Deno|Bun)\b/,
    /"(?:Deno|Bun)" in\b/,
    /\btypeof (?:Deno|Bun|process|window)\b/,
    /(?<![\w."])(?:Deno|Bun)\s*\./,
    /\bversions\s*(?:\?\.|\.|\[")(?:bun|deno|node)\b/,
    /\bnavigator\s*(?:\?\.|\.)userAgent\b/,
  ];
  const asking = modules.filter(({ path, code }) => {
    return folderOf(path) !== "runtime" && questions.some((question) => question.test(code));
  });
  assert.deepEqual(asking.map(({ path }) => path), []);
});
