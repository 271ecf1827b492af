import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";

/** The repository's folder. */
export const root: string = join(dirname(fileURLToPath(import.meta.url)), "..");
/** What npm publishes. */
export const dist: string = join(root, "dist");

/** The folders that make one chunk each, as their parts are used together: everything that `.` exports. */
export const WHOLE: readonly string[] = ["batch", "codecs", "streams", "text"];
/** The module that the pool finds by its address. */
export const WORKER = "lib/precompress/worker.ts";
/** Where the codecs' modules are: in the folder for browsers, which has to be complete, and for all. */
export const CODECS: string = join(dist, "browser/wasm");

type Outputs = BuildResult<{ write: false; metafile: true }>;

const inFolder = new RegExp(`/lib/(${WHOLE.join("|")})/`);

/** Lets whoever imports a folder of {@linkcode WHOLE} import all of it, so that esbuild makes one chunk of it. */
const wholeFolders: Plugin = {
  name: "whole-folders",
  setup(builder) {
    builder.onResolve({ filter: /^(public|whole):/ }, ({ path }) => {
      const [namespace, folder] = path.split(":");
      return { path: folder, namespace, sideEffects: true };
    });
    builder.onLoad({ filter: /./, namespace: "public" }, ({ path: folder }) => {
      return { contents: `import "whole:${folder}"; export * from "./mod.ts";`, resolveDir: join(root, "lib", folder) };
    });
    builder.onLoad({ filter: /./, namespace: "whole" }, ({ path: folder }) => {
      const contents = `export * from "./mod.ts"; export * from "./internal.ts";`;
      return { contents, resolveDir: join(root, "lib", folder) };
    });
    builder.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer, resolveDir, namespace }) => {
      const target = join(resolveDir, path);
      const [, folder] = inFolder.exec(target.replaceAll("\\", "/")) ?? [];
      if (folder === undefined) return undefined;
      const isFacade = namespace === "file" && /^(mod|internal)\.ts$/.test(basename(target));
      // Within a folder, only another entry of it imports its face.
      if (isFacade && !/^(mod|internal)\.ts$/.test(basename(importer)) || isFacade && dirname(importer) === root) {
        return { path: folder, namespace: "whole", sideEffects: true };
      }
      return { path: target, sideEffects: true }; // else what no entry uses would be in no chunk
    });
  },
};

/** What modules find by an address relative to themselves stays out of the bundle, and is told by this for now. */
const PLACE = "place-of:";

/** The codecs' modules stay files of their own, and the pool starts its worker from the module that is built of it. */
const ownFiles: Plugin = {
  name: "own-files",
  setup(builder) {
    builder.onResolve({ filter: /^\.\/wasm\/\w+\.js$/ }, ({ path }) => {
      return { path: `${PLACE}${join(CODECS, basename(path))}`, external: true };
    });
    builder.onLoad({ filter: /lib[\\/]precompress[\\/]pool\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const place = JSON.stringify(`${PLACE}${join(dist, WORKER.replace(/\.ts$/, ".js"))}`);
      const contents = source.replace(/import\.meta\.url\.replace\(.*\$1"\)/, `${place}, import.meta.url`);
      if (contents === source) throw new Error(`${path} starts its worker in a way that .ci/bundle.ts does not know`);
      return { contents, loader: "ts" };
    });
  },
};

/** Makes modules below `outdir` of the sources, by their names there without extension, and writes them. */
export async function bundle(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
  options: BuildOptions,
): Promise<number> {
  return write(
    await build({
      absWorkingDir: root,
      entryPoints,
      outdir,
      chunkNames: "chunks/[name]-[hash]",
      bundle: true,
      splitting: true,
      write: false,
      metafile: true,
      packages: "external",
      format: "esm",
      platform: "neutral",
      target: "es2023",
      legalComments: "none",
      plugins: [wholeFolders, ownFiles],
      logLevel: "warning",
      ...options,
    }),
  );
}

/** A name for each chunk that tells what is in it: the folders of its sources. */
function chunkNames({ outputs }: Outputs["metafile"]): Map<string, string> {
  const names = new Map<string, string>();
  const numbers = new Map<string, number>();
  for (const [path, { inputs, bytes }] of Object.entries(outputs)) {
    const [, anonymous] = /\/(chunk-\w+)\.js$/.exec(path) ?? [];
    if (anonymous === undefined || bytes === 0) continue;
    const folders = Object.keys(inputs).flatMap((input) => /^lib\/(\w+)/.exec(input)?.[1] ?? []);
    const name = [...new Set(folders)].sort().join("_") || "shared";
    const number = (numbers.get(name) ?? 0) + 1;
    numbers.set(name, number);
    names.set(anonymous, number === 1 ? name : `${name}_${number}`);
  }
  return names;
}

/** Writes the outputs of a bundle, and returns how many there are. */
function write({ outputFiles, metafile }: Outputs): number {
  const names = chunkNames(metafile);
  const renamed = (text: string): string => text.replace(/\bchunk-[A-Z0-9]{8}\b/g, (name) => names.get(name) ?? name);
  const full = outputFiles.filter(({ text }) => text !== "");
  const empty = outputFiles.filter(({ text }) => text === "").map(({ path }) => basename(path));
  for (const { path, text } of full) {
    const present = empty.reduce((text, name) => text.replace(new RegExp(`^import "[^"]*/${name}";\n`, "m"), ""), text);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(renamed(path), ownNames(placed(renamed(present), dirname(path))));
  }
  return full.length;
}

/** Fills in where files are, seen from `folder`. */
function placed(text: string, folder: string): string {
  return text.replace(new RegExp(`(["'\`])${PLACE}(.*?)\\1`, "g"), (_, quote, path) => {
    const place = relative(folder, path.replaceAll("\\\\", "\\")).replaceAll("\\", "/");
    return `${quote}${place.startsWith(".") ? place : `./${place}`}${quote}`;
  });
}

/**
 * Gives classes their names back: esbuild writes `var Name = class _Name` where a class refers to itself. They would
 * have to be renamed at run time otherwise, and V8 does not inline `super()` of a class with a redefined property.
 */
function ownNames(text: string): string {
  const aliases = [...text.matchAll(/^(?:var|let|const) (\w+) = class _(\w+)\b/gm)].map(([, , name]) => name);
  return aliases.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, "g"), name), text);
}
