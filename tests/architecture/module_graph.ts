import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root: string = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A module of this package: its path from the repository's folder, its text without comments, and its imports. */
export interface Module {
  readonly path: string;
  readonly code: string;
  /** The paths of this package's modules, and other specifiers unchanged. Workers count as imports. */
  readonly imports: readonly string[];
}

/** Returns `mod.ts` and every source below `lib/`, except for generated ones. */
export function ourModules(): Module[] {
  const below = readdirSync(join(root, "lib"), { recursive: true, encoding: "utf8" })
    .map((path) => `lib/${path.replaceAll(sep, "/")}`);
  return ["mod.ts", ...below.sort()]
    .filter((path) => path.endsWith(".ts") && !path.startsWith("lib/codecs/wasm/"))
    .map((path) => readModule(path));
}

/** Returns the module's folder below `lib/`, as in `codecs`; empty for `mod.ts`. */
export function folderOf(path: string): string {
  return /^lib\/([^/]+)\//.exec(path)?.[1] ?? "";
}

function readModule(path: string): Module {
  const code = withoutComments(readFileSync(join(root, path), "utf8"));
  const patterns = [
    /^\s*(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"/gm,
    /^\s*import\s*"([^"]+)"/gm,
    /\bimport\(\s*"([^"]+)"/g,
    /\bnew URL\(\s*"(\.[^"]+)"/g,
  ];
  const specifiers = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, specifier]) => specifier));
  return { path, code, imports: specifiers.map((specifier) => resolved(specifier, path)) };
}

/** Places of modules that have another form in browsers, by specifier. */
const { imports: places } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  imports: Readonly<Record<string, { readonly default: string }>>;
};

function resolved(specifier: string, from: string): string {
  if (specifier in places) return places[specifier].default.slice(2);
  if (!specifier.startsWith(".")) return specifier;
  return relative(root, resolve(root, dirname(from), specifier)).replaceAll(sep, "/");
}

/** Good enough for formatted code: comments that stand alone or after code, not those inside strings. */
function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*[\s\S]*?\*\//gm, "").replace(/^\s*\/\/.*$/gm, "").replace(/\s\/\/ .*$/gm, "");
}
