import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";
import { ownModules } from "./own_modules.ts";
import { root } from "./root.ts";

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

/** What to bundle, and how. */
export interface Bundle {
  /** The sources, by the names of their modules below `outdir`, without extension. */
  readonly entries: Readonly<Record<string, string>>;
  /** Where the modules go. */
  readonly outdir: string;
  /** The folder of the codecs' modules, which are loaded when used. */
  readonly codecs: string;
  /** Folders of `lib/` that make one chunk each, or together, however little of them is imported. */
  readonly chunks: readonly (readonly string[])[];
  /** More options of esbuild. */
  readonly options?: BuildOptions;
}

type Outputs = BuildResult<{ write: false; metafile: true }>;

/**
 * Bundles with the code that modules share in chunks, and writes the modules.
 *
 * @returns the paths of all that was written.
 */
export async function bundle({ entries, outdir, codecs, chunks, options }: Bundle): Promise<string[]> {
  const settings: BuildOptions & { write: false; metafile: true } = {
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, entryOf(path, chunks)])),
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    legalComments: "none",
    logLevel: "warning",
    ...options,
    plugins: [
      ownFiles(outdir, codecs),
      ...(options?.plugins ?? []),
      ownModules(options?.platform === "browser" ? "browser" : "default"),
      wholeFolders(chunks),
    ],
    write: false,
    metafile: true,
  };
  return write(await build(settings));
}

/** The face of a folder that belongs to a chunk stands for the whole chunk. */
function entryOf(source: string, chunks: Bundle["chunks"]): string {
  const [, folder = ""] = /^lib\/(\w+)\/mod\.ts$/.exec(source) ?? [];
  return chunks.flat().includes(folder) ? `face:${source}` : source;
}

const isFace = (path: string): boolean => /^(mod|internal)\.ts$/.test(basename(path));

/**
 * Lets whoever imports of a folder import all that is to be in its chunk, for the side effect that there is none of: so
 * the same modules reach all of it, and esbuild makes a chunk of that.
 */
function wholeFolders(chunks: Bundle["chunks"]): Plugin {
  const folderOf = (path: string): string => {
    const [, folder = ""] = /\blib\/(\w+)\//.exec(relative(root, path).replaceAll("\\", "/")) ?? [];
    return chunks.flat().includes(folder) ? folder : "";
  };
  return {
    name: "whole-folders",
    setup(builder) {
      builder.onResolve({ filter: /^(face|whole):/ }, ({ path }) => {
        const [namespace, name] = path.split(":");
        return { path: name, namespace, sideEffects: true };
      });
      builder.onLoad({ filter: /./, namespace: "face" }, ({ path: face }) => {
        const chunk = chunks.find((folders) => folders.includes(folderOf(join(root, face))))!;
        return { contents: `import "whole:${chunk.join("+")}"; export * from "./${face}";`, resolveDir: root };
      });
      builder.onLoad({ filter: /./, namespace: "whole" }, ({ path: chunk }) => {
        const faces = chunk.split("+").flatMap((folder) => [`./lib/${folder}/mod.ts`, `./lib/${folder}/internal.ts`]);
        return { contents: faces.map((face) => `import "${face}";`).join("\n"), resolveDir: root };
      });
      builder.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer, resolveDir, namespace }) => {
        const target = join(resolveDir, path);
        if (folderOf(target) === "") return undefined;
        // Of a folder's own modules, only another entry imports its face.
        const isFromOutside = namespace === "file" && isFace(target) &&
          (folderOf(importer) !== folderOf(target) || !isFace(importer));
        const face = relative(root, target).replaceAll("\\", "/");
        if (isFromOutside) return { path: face, namespace: "face", sideEffects: true };
        return { path: target, sideEffects: true }; // else what no entry uses would be in no chunk
      });
    },
  };
}

/** Stands for a file's place relative to the module, until that is known. */
const PLACE = "place-of:";

/** The codecs' modules stay files of their own, and each module imports of `lib/runtime` only what it names. */
function ownFiles(outdir: string, codecs: string): Plugin {
  return {
    name: "own-files",
    setup(builder) {
      builder.onResolve({ filter: /^\.\/wasm\/\w+\.js$/ }, ({ path }) => {
        return { path: `${PLACE}${join(codecs, basename(path))}`, external: true };
      });
      builder.onLoad({ filter: /lib[\\/].*\.ts$/, namespace: "file" }, ({ path }) => {
        const address = workers.get(relative(root, path).replaceAll("\\", "/"));
        if (address !== undefined) return { contents: workerAddressIn(outdir, address.worker, address.name) };
        return { contents: pastRuntimeFace(readFileSync(path, "utf8")), loader: "ts" };
      });
    },
  };
}

/** A module that gives the place of a worker that is built. */
function workerAddressIn(outdir: string, worker: string, name: string): string {
  const place = JSON.stringify(`${PLACE}${join(outdir, worker.replace(/\.ts$/, ".js"))}`);
  return `export function ${name}() { return new URL(${place}, import.meta.url); }`;
}

/**
 * Imports from the modules themselves what is imported from the face of `lib/runtime`: else esbuild would make one chunk
 * of that folder, and who wants to know of a file's status would load Node's `Response`, which takes 50 ms.
 */
function pastRuntimeFace(source: string): string {
  return source.replace(/^import \{([^}]*)\} from "((?:\.\.\/)+runtime\/)mod\.ts";/gm, (_, names: string, folder) => {
    const values = names.split(",").map((name) => name.trim()).filter((name) =>
      name !== "" && !name.startsWith("type ")
    );
    return values.map((name) => `import { ${name} } from "${folder}${runtimeModules.get(name)}";`).join(" ");
  });
}

/** Where the values that `lib/runtime` exports come from. */
const runtimeModules: ReadonlyMap<string, string> = new Map(
  [...readFileSync(join(root, "lib/runtime/mod.ts"), "utf8").matchAll(/^export \{([^}]*)\} from "\.\/(.*)";/gm)]
    .flatMap(([, names, path]) => names.split(",").map((name) => [name.trim(), path] as const)),
);

/** A name for each chunk that tells what is in it: the folders of its sources. Of chunks of the same, the largest has no number. */
function chunkNames({ outputs }: Outputs["metafile"]): Map<string, string> {
  const names = new Map<string, string>();
  const numbers = new Map<string, number>();
  for (const [path, { inputs, bytes }] of Object.entries(outputs).sort(([, a], [, b]) => b.bytes - a.bytes)) {
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

function write({ outputFiles, metafile }: Outputs): string[] {
  const names = chunkNames(metafile);
  const renamed = (text: string): string => text.replace(/\bchunk-[A-Z0-9]{8}\b/g, (name) => names.get(name) ?? name);
  const empty = outputFiles.filter(({ text }) => text === "").map(({ path }) => basename(path));
  const imports = empty.map((name) => new RegExp(`\\bimport ?"[^"]*/${name}";\n?`));
  return outputFiles.filter(({ text }) => text !== "").map(({ path, text }) => {
    const present = imports.reduce((text, pattern) => text.replace(pattern, ""), text);
    const output = renamed(path);
    if (existsSync(output)) throw new Error(`${output} would be written twice`);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, ownNames(placed(renamed(present), dirname(output))));
    return output;
  });
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
  const names = [...text.matchAll(/^(?:var|let|const) \w+ = class _(\w+)\b/gm)].map(([, name]) => name);
  return names.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, "g"), name), text);
}
