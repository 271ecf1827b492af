import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build, type OnLoadResult, type OnResolveResult, type Plugin } from "esbuild";
import {
  type Bundle,
  type Outputs,
  OWN_END,
  OWN_FILES,
  type OwnFiles,
  ownFiles,
  PLACE,
  root,
  settingsOf,
  WORKERS,
  write,
} from "./bundle.ts";
import { BUILD } from "../lib/codecs/module.ts";
import { withFewImports } from "./few_imports.ts";
import { withLateBuiltins } from "./late_builtins.ts";
import { placeOf } from "./own_modules.ts";
import { pastFaces, specifierOf } from "./past_faces.ts";
import { planChunks } from "./plan_chunks.ts";

/** Returns the sources of the subpaths, by the outputs in the manifest. */
export function publicSources(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const outputs = Object.values(exports).map((target) => (target as { default?: string }).default ?? "");
  return outputs.filter((path) => path.endsWith(".js") && !path.includes("/browser/")).map((path) =>
    path.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts")
  );
}

/** Returns the sources of the subpaths and workers, by the names of their modules. */
export function serverEntries(): Record<string, string> {
  return Object.fromEntries([...publicSources(), ...WORKERS].map((path) => [path.replace(/\.ts$/, ""), path]));
}

/**
 * Bundles for servers: an entry loads little that it does not need, in few modules, and the runtime's own modules when
 * they are used.
 *
 * @returns the paths of all that was written.
 */
export async function bundleForServers(bundle: Omit<Bundle, "options">): Promise<string[]> {
  const finest = await build({ ...settingsOf(bundle), plugins: pluginsOf(bundle, new Map()) });
  for (const [path, { inputs, bytes, entryPoint }] of Object.entries(finest.metafile.outputs)) {
    if (bytes === 0 || entryPoint !== undefined || Object.keys(inputs).length > 0) continue;
    throw new Error(
      `every entry would load ${path}: esbuild's helpers for syntax that older runtimes lack, as \`using\``,
    );
  }
  const chunks = planChunks(finest.metafile.outputs, { weightOf, together: "lib/streams/mod.ts" });
  const outputs = await build({
    ...settingsOf(bundle),
    sourcemap: "external",
    sourcesContent: false,
    logOverride: { "ignored-bare-import": "silent" }, // each source of a chunk is imported by name, too
    plugins: pluginsOf(bundle, chunksBySource(chunks, finest)),
  });
  return write(withFewImports(outputs), bundle.outdir);
}

/**
 * Parts that programs import for themselves count more than those that only the command loads, or workers. Codecs' own
 * entries count as the main one does: 9 KB that they do not need took Node 0.7 ms of 4.7, Bun 1.1 of 5; one module more
 * takes other parts 0.2 to 0.6 ms.
 */
const WEIGHTS: Readonly<Record<string, number>> = {
  "mod.ts": 40,
  "lib/http/mod.ts": 8,
  "lib/static/mod.ts": 8,
  "lib/compression/mod.ts": 6,
  "lib/cli/cli.ts": 10,
  "lib/codecs/brotli.ts": 40,
  "lib/codecs/gzip.ts": 40,
  "lib/codecs/mod.ts": 3,
  "lib/codecs/zstd.ts": 40,
  "lib/files/mod.ts": 6,
  "lib/upload/mod.ts": 3,
  "lib/node/mod.ts": 1,
  "lib/pino/mod.ts": 1,
  "lib/precompress/mod.ts": 4,
  "lib/s3/mod.ts": 1,
};

/** The prefix of copies' names. */
const COPY = "copy:";

/**
 * Modules without state that streams and the parts without streams both use. The parts without streams get copies. An
 * import of the streams would otherwise load a second chunk, which takes as long as 40 KB of code.
 */
const COPIED: ReadonlySet<string> = new Set([
  "lib/streams/language/bytes.ts",
  "lib/streams/language/errors.ts",
  "lib/streams/language/host.ts",
  "lib/streams/shortcuts/async_context.ts",
  "lib/streams/shortcuts/end_of_turn.ts",
]);

function weightOf(source: string): number {
  return WEIGHTS[source] ?? 0.2;
}

/** The chunks by the sources in them, which are in the order in which the finest split evaluates them. */
type Chunks = ReadonlyMap<string, readonly string[]>;

function chunksBySource(chunks: readonly (readonly string[])[], { metafile }: Outputs): Chunks {
  const order = [...evaluationOrder(metafile.inputs)];
  const ordered = chunks.map((chunk) => chunk.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  return new Map(ordered.flatMap((chunk) => chunk.map((source) => [source, chunk] as const)));
}

/** Returns the sources in the order in which ES modules are evaluated from the main entry on, then from the others. */
function evaluationOrder(inputs: Outputs["metafile"]["inputs"]): Set<string> {
  const visited = new Set<string>();
  const evaluated = new Set<string>();
  const visit = (source: string): void => {
    if (visited.has(source) || !(source in inputs)) return;
    visited.add(source);
    for (const { path, kind } of inputs[source].imports) if (kind === "import-statement") visit(path);
    evaluated.add(source);
  };
  for (const source of ["lib/streams/mod.ts", "mod.ts", ...Object.keys(inputs)]) visit(source);
  return evaluated;
}

function pluginsOf({ outdir, codecs }: Omit<Bundle, "options">, chunks: Chunks): Plugin[] {
  const changed = (source: string, path: string): Promise<OnLoadResult> =>
    change(withFiles(source, path, codecs), path);
  return [ownFiles({ outdir, codecs, change: changed }), inChunks(chunks, changed), noBuiltins()];
}

/** Empties the lines of comments on declarations, which esbuild would keep within classes. */
export function withoutDocs(source: string): string {
  return source.replace(/^ *\/\*\*.*?\*\/$/gms, (comment) => comment.replace(/[^\n]/g, ""));
}

/** Makes the codecs read their modules' files, where possible, before they import the embedded texts. */
function withFiles(source: string, path: string, codecs: string): string {
  if (path === OWN_FILES) {
    return source.replace('"folder of codecs"', JSON.stringify(PLACE + codecs)).replace(
      '"end of the path"',
      `"${OWN_END}"`,
    );
  }
  const changed = source.replace(/\(\) => (import\("\.\/wasm\/(\w+)\.js"\))/g, (_, text: string, name: string) => {
    return `() => wasmAt("${name.replace("deflate", "gzip")}", "${BUILD}", () => ${text})`;
  });
  if (changed === source) return source;
  return `${changed}import { wasmAt } from ${JSON.stringify(specifierOf(OWN_FILES, path))};\n`;
}

async function change(source: string, path: string): Promise<OnLoadResult> {
  const direct = pastFaces(withoutDocs(source), path);
  const late = await withLateBuiltins(direct, path);
  return late === undefined ? { contents: direct, loader: "ts" } : { contents: late, loader: "js" };
}

/** Refuses imports of the runtime's modules that {@linkcode withLateBuiltins} has left. */
function noBuiltins(): Plugin {
  return {
    name: "no-builtins",
    setup(builder) {
      builder.onResolve({ filter: /^node:/ }, ({ path, kind, importer }) => {
        if (kind === "dynamic-import") return { path, external: true };
        throw new Error(`${importer} imports ${path} in a way that .ci/late_builtins.ts does not know`);
      });
    },
  };
}

/**
 * Lets whatever imports a source from outside of its chunk import the whole chunk, for the side effect that there is none
 * of: so the same entries reach all of it, and esbuild makes one chunk of that. Sources go by their names: their paths,
 * with `copy:` before those of copies.
 */
function inChunks(chunks: Chunks, change: NonNullable<OwnFiles["change"]>): Plugin {
  const placed = (source: string): OnResolveResult => {
    const sideEffects = chunks.has(source); // otherwise a source that no entry uses would be in no chunk
    if (source.startsWith(COPY)) return { path: source.slice(COPY.length), namespace: "copy", sideEffects };
    return { path: join(root, source), sideEffects };
  };
  return {
    name: "in-chunks",
    setup(builder) {
      builder.onResolve({ filter: /^(?:#|\.\.?\/)/ }, ({ path, importer, resolveDir, namespace, kind }) => {
        if (kind !== "import-statement") return undefined;
        const from = namespace === "copy" ? `${COPY}${importer}` : nameOf(importer);
        const target = nameOf(path.startsWith("#") ? placeOf(path, "default") : join(resolveDir, path));
        const source = COPIED.has(target) && !from.startsWith("lib/streams/") ? `${COPY}${target}` : target;
        const chunk = chunks.get(source);
        if (chunk !== undefined && chunk !== chunks.get(from)) return { path: source, namespace: "outside" };
        return placed(source);
      });
      builder.onLoad({ filter: /./, namespace: "outside" }, ({ path: source }) => {
        return { contents: `import "whole:${chunks.get(source)![0]}"; export * from "source:${source}";` };
      });
      builder.onResolve({ filter: /^whole:/ }, ({ path }) => ({ path, namespace: "whole", sideEffects: true }));
      builder.onLoad({ filter: /./, namespace: "whole" }, ({ path }) => {
        const chunk = chunks.get(path.slice("whole:".length))!;
        return { contents: chunk.map((source) => `import "source:${source}";`).join("\n") };
      });
      builder.onResolve({ filter: /^source:/ }, ({ path }) => placed(path.slice("source:".length)));
      builder.onLoad({ filter: /./, namespace: "copy" }, async ({ path }) => {
        const own = join(root, path);
        return { ...await change(readFileSync(own, "utf8"), own), resolveDir: dirname(own) };
      });
    },
  };
}

function nameOf(path: string): string {
  return relative(root, path).replaceAll("\\", "/");
}
