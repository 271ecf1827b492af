import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build, type BuildOptions, type BuildResult, type OnLoadResult, type Plugin } from "esbuild";
import { ownModules } from "./own_modules.ts";
import { specifierOf } from "./past_faces.ts";
import { root } from "./root.ts";
import { MappedText } from "./source_maps.ts";

export { root } from "./root.ts";

/** The modules that are found by their addresses, by the modules that give these, with the name of the function. */
const workers: ReadonlyMap<string, { readonly worker: string; readonly name: string }> = new Map([
  ["lib/precompress/worker_address.ts", { worker: "lib/precompress/worker.ts", name: "workerAddress" }],
  ["lib/files/series/compress_worker_address.ts", {
    worker: "lib/files/series/compress_worker.ts",
    name: "compressWorkerAddress",
  }],
]);

/** The modules that run in workers. */
export const WORKERS: readonly string[] = [...workers.values()].map(({ worker }) => worker);

/** The entries of a bundle, its directory and esbuild's options. */
export interface Bundle {
  /** The sources, by the names of their modules below `outdir`, without extension. */
  readonly entries: Readonly<Record<string, string>>;
  /** The directory of the modules. */
  readonly outdir: string;
  /** The folder of the codecs' modules, which are loaded when used. */
  readonly codecs: string;
  /** Additional options of esbuild. */
  readonly options?: BuildOptions;
}

/** esbuild's result: output files in memory and the metafile. */
export type Outputs = BuildResult<{ write: false; metafile: true }>;

/**
 * Bundles with the code that modules share in chunks, and writes the modules.
 *
 * @returns the paths of all that was written.
 */
export async function bundle(bundle: Bundle): Promise<string[]> {
  const { outdir, codecs, options } = bundle;
  const condition = options?.platform === "browser" ? "browser" : "default";
  const plugins = [ownFiles({ outdir, codecs }), ...(options?.plugins ?? []), ownModules(condition)];
  return write(await build({ ...settingsOf(bundle), ...options, plugins, write: false, metafile: true }), outdir);
}

/** Returns the options of esbuild for a bundle. */
export function settingsOf({ entries, outdir }: Bundle): BuildOptions & { write: false; metafile: true } {
  return {
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    legalComments: "inline",
    logLevel: "warning",
    write: false,
    metafile: true,
  };
}

/** A placeholder for a file's path relative to the module; {@link write} replaces it. */
export const PLACE = "place-of:";
/**
 * A placeholder for the end of the module's own address. At run time a module with another address is part of a bundle.
 */
export const OWN_END = "own-end:";

/** The files outside of chunks, and the transform of sources before they are bundled. */
export interface OwnFiles {
  readonly outdir: string;
  readonly codecs: string;
  /** Changes a source. */
  readonly change?: (source: string, path: string) => Promise<OnLoadResult>;
}

/** Returns a plugin that keeps the codecs' modules in separate files, and resolves workers by their addresses. */
export function ownFiles({ outdir, codecs, change }: OwnFiles): Plugin {
  return {
    name: "own-files",
    setup(builder) {
      builder.onResolve({ filter: /^\.\/wasm\/\w+\.js$/ }, ({ path }) => {
        return { path: `${PLACE}${join(codecs, basename(path))}`, external: true };
      });
      builder.onLoad({ filter: /lib[\\/].*\.ts$/, namespace: "file" }, ({ path }) => {
        const address = workers.get(relative(root, path).replaceAll("\\", "/"));
        const source = readFileSync(path, "utf8");
        if (address === undefined) return change?.(source, path);
        const before = source.slice(0, source.indexOf("export function")).replace(/[^\n]/g, ""); // lines keep their numbers
        return { contents: before + workerAddressIn(outdir, address, path) };
      });
    },
  };
}

/** The module that finds files of the package. */
export const OWN_FILES: string = join(root, "lib/runtime/own_files.ts");

/** Returns a module that gives the place of a worker that is built, in the place of the source at `path`. */
function workerAddressIn(outdir: string, { worker, name }: { worker: string; name: string }, path: string): string {
  const place = JSON.stringify(`${PLACE}${join(outdir, worker.replace(/\.ts$/, ".js"))}`);
  return `import { ownAddress } from ${JSON.stringify(specifierOf(OWN_FILES, path))}; export function ${name}() {
    const own = ownAddress(() => import.meta.url);
    if (!own?.pathname.endsWith("${OWN_END}")) throw new Error("it is not in the bundle");
    return new URL(${place}, own);
  }`;
}

/** Names each chunk after the folders of its sources; of chunks with equal names, the largest has no number. */
function chunkNames({ outputs }: Outputs["metafile"]): Map<string, string> {
  const names = new Map<string, string>();
  const numbers = new Map<string, number>();
  for (const [path, { inputs, bytes }] of Object.entries(outputs).sort(([, a], [, b]) => b.bytes - a.bytes)) {
    const [, anonymous] = /\/(chunk-\w+)\.js$/.exec(path) ?? [];
    if (anonymous === undefined || bytes === 0) continue;
    const folders = Object.keys(inputs).flatMap((input) => /^(?:copy:)?lib\/(\w+)/.exec(input)?.[1] ?? []);
    const name = [...new Set(folders)].sort().join("_") || "shared";
    const number = (numbers.get(name) ?? 0) + 1;
    numbers.set(name, number);
    names.set(anonymous, number === 1 ? name : `${name}_${number}`);
  }
  return names;
}

/**
 * Writes what esbuild made, by the names that the files are to have, with source maps where it made some: these lead to
 * sources beside `dist/`, wherever `outdir` is.
 *
 * @returns the paths of the modules.
 */
export function write({ outputFiles, metafile }: Outputs, outdir: string): string[] {
  const names = chunkNames(metafile);
  const renamed = (text: string): string => text.replace(CHUNK, (name) => names.get(name) ?? name);
  const maps = new Map(outputFiles.filter(({ path }) => path.endsWith(".map")).map(({ path, text }) => [path, text]));
  const modules = outputFiles.filter(({ path }) => !maps.has(path));
  const empty = modules.filter(({ text }) => text === "").map(({ path }) => basename(path, ".js"));
  return modules.filter(({ text }) => text !== "").map(({ path, text }) => {
    const output = renamed(path);
    if (existsSync(output)) throw new Error(`${output} would be written twice`);
    mkdirSync(dirname(output), { recursive: true });
    const map = maps.get(`${path}.map`);
    const module = new MappedText(text, map, dirname(path));
    if (empty.length > 0) module.replace(new RegExp(`\\bimport ?"[^"]*/(?:${empty.join("|")})\\.js";`, "g"), () => "");
    module.replace(CHUNK, renamed);
    module.replace(PLACED, (_, quote, place) => `${quote}${specifierTo(place, dirname(output))}${quote}`);
    const end = `/${relative(outdir, output).replaceAll("\\", "/")}`;
    module.replace(new RegExp(`(["'\`])${OWN_END}\\1`, "g"), (_, quote) => `${quote}${end}${quote}`);
    if (map !== undefined) {
      giveNames(module);
      module.minify();
    }
    const sourceMap = module.mapAt(join(root, "dist", relative(outdir, output)));
    const comment = sourceMap === undefined ? "" : `\n//# sourceMappingURL=${basename(output)}.map\n`;
    writeFileSync(output, module.text + comment);
    if (sourceMap !== undefined) writeFileSync(`${output}.map`, sourceMap);
    return output;
  });
}

/** The names esbuild gives to chunks. */
const CHUNK = /\bchunk-[A-Z0-9]{8}\b/g;

const PLACED = new RegExp(`(["'\`])${PLACE}(.*?)\\1`, "g");

/** Returns where the file is, seen from `folder`. */
function specifierTo(path: string, folder: string): string {
  const place = relative(folder, path.replaceAll("\\\\", "\\")).replaceAll("\\", "/");
  return place.startsWith(".") ? place : `./${place}`;
}

/**
 * Restores the names of classes: esbuild writes `var Name=class _Name` where a class refers to itself. Without this
 * step the names would have to be restored at run time, and V8 does not inline `super()` of a class with a redefined
 * property.
 */
function giveNames(module: MappedText): void {
  const names = [...module.text.matchAll(/\b\w+ ?= ?class _(\w+)\b/g)].map(([, name]) => name);
  if (names.length > 0) module.replace(new RegExp(`\\b_(${names.join("|")})\\b`, "g"), (_, name) => name);
}
