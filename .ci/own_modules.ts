import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import { root } from "./root.ts";

/** The conditions under which package.json has places for modules. */
export type Condition = "browser" | "default";

type Places = Readonly<Record<string, Readonly<Record<Condition, string>>>>;
const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { imports: Places };

/** Returns the absolute path of a module that package.json's `imports` name. */
export function placeOf(specifier: string, condition: Condition): string {
  if (!Object.hasOwn(imports, specifier)) throw new Error(`package.json has no place for ${specifier}`);
  return join(root, imports[specifier][condition]);
}

/** Resolves the modules of package.json's `imports`, and keeps all: esbuild would drop unused ones that a chunk needs. */
export function ownModules(condition: Condition): Plugin {
  return {
    name: "own-modules",
    setup(builder) {
      builder.onResolve({ filter: /^#/ }, ({ path }) => ({ path: placeOf(path, condition), sideEffects: true }));
    },
  };
}
