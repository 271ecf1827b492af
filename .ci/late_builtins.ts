import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { specifierOf } from "./past_faces.ts";
import { root } from "./root.ts";

/** The module that gives the runtime's modules, each when it is first used. */
const BUILTINS = join(root, "lib/runtime/builtins.ts");

/** The modules that it gives. */
const given: ReadonlySet<string> = new Set(
  [...readFileSync(BUILTINS, "utf8").matchAll(/^\s+"([\w/]+)",$/gm)].map(([, name]) => `node:${name}`),
);

/** An import of one of the runtime's modules, as `deno fmt` writes it; those of types alone go with the types. */
const IMPORT = /^import (?!type )([^;"]+) from "(node:[^"]+)";$/gm;

/**
 * Returns a source as JavaScript in which what it imports of the runtime's modules is read from these where it is used,
 * as in `builtins.fs.statSync(path)`: so nothing is loaded before. All uses of an import are such reads, be they calls,
 * `new`, `extends`, values or whole modules, and see what is in the module then, as live bindings do.
 *
 * @param source TypeScript.
 * @returns `undefined` if it imports none.
 * @throws if it imports a module that `lib/runtime/builtins.ts` does not give.
 */
export async function withLateBuiltins(source: string, path: string): Promise<string | undefined> {
  const define: Record<string, string> = {};
  const rest = source.replace(IMPORT, (statement, clause: string, module: string) => {
    for (const [name, member] of bindingsOf(clause)) define[name] = placeOf(module, member, path);
    return statement.replace(/[^\n]/g, ""); // lines keep their numbers
  });
  if (Object.keys(define).length === 0) return undefined;
  if (/\bbuiltins\b/.test(source)) throw new Error(`${path} has a name "builtins" of its own, which the build needs`);
  const { code } = await transform(rest, {
    loader: "ts",
    define,
    sourcefile: path,
    sourcemap: "inline",
    sourcesContent: false,
    legalComments: "none",
  });
  return `${code}import { builtins } from ${JSON.stringify(specifierOf(BUILTINS, path))};\n`;
}

/** Returns an import's local names and their meaning: a member, or `undefined` for the whole module. */
function bindingsOf(clause: string): [name: string, member: string | undefined][] {
  const [, braces] = /\{([^}]*)\}/.exec(clause) ?? [];
  const others = clause.replace(/\{[^}]*\}/, "").split(",").map((each) => each.replace("* as ", "").trim());
  const members = (braces ?? "").split(",").map((each) => each.trim()).filter((each) => !each.startsWith("type "));
  return [
    ...others.filter((name) => name !== "").map((name) => [name, undefined] as [string, undefined]),
    ...members.filter((each) => each !== "").map((each): [string, string] => {
      const [member, name = member] = each.split(" as ");
      return [name, member];
    }),
  ];
}

function placeOf(module: string, member: string | undefined, path: string): string {
  if (module === "node:process") return member === undefined ? "builtins.process" : `builtins.process.${member}`;
  if (module === "node:buffer" && member === "Buffer") return "builtins.Buffer";
  if (!given.has(module)) throw new Error(`${path} imports ${module}: add it to lib/runtime/builtins.ts`);
  const property = module.slice("node:".length).replace(/[/_](\w)/g, (_, letter: string) => letter.toUpperCase());
  return member === undefined ? `builtins.${property}` : `builtins.${property}.${member}`;
}
