/**
 * A plugin for esbuild that compresses the output of a build, by `precompress()`.
 *
 * @example In a build script
 * ```ts
 * import { precompress } from "@millrace/streams/esbuild";
 * import { build } from "esbuild";
 *
 * await build({
 *   entryPoints: ["app.js"],
 *   entryNames: "[name]-[hash]",
 *   outdir: "dist",
 *   plugins: [precompress({ levels: { brotli: 9 } })],
 * });
 * ```
 *
 * @module
 */
import { dirname, extname, relative, resolve } from "node:path";
import process from "node:process";
import {
  compressOutput,
  hasHash,
  moment,
  Output,
  pluginOptions,
  type PrecompressPlugin,
  type PrecompressPluginOptions,
  type Tool,
} from "./compress_output.ts";

export type { PrecompressPluginOptions } from "./compress_output.ts";
export type { PrecompressPlugin } from "./compress_output.ts";

/** The part of esbuild's `PluginBuild` used here. */
interface Build {
  readonly initialOptions: BuildOptions;
  onEnd(callback: (result: Result) => Promise<{ errors?: { text: string }[]; warnings?: { text: string }[] }>): void;
}

interface BuildOptions {
  readonly outdir?: string;
  readonly outfile?: string;
  readonly absWorkingDir?: string;
  readonly write?: boolean;
  readonly logLevel?: string;
  readonly entryNames?: string;
  readonly chunkNames?: string;
  readonly assetNames?: string;
  readonly outExtension?: Readonly<Record<string, string>>;
  readonly entryPoints?: readonly (string | { readonly in: string })[] | Readonly<Record<string, string>>;
  metafile?: boolean;
}

interface Result {
  readonly errors: readonly unknown[];
  readonly metafile?: { readonly outputs: Readonly<Record<string, OutputFile>> };
}

interface OutputFile {
  /** The source of an entry point of the build, or of a module that is imported dynamically. */
  readonly entryPoint?: string;
  readonly imports?: readonly { readonly path: string; readonly kind: string }[];
  /** The styles of an entry point. */
  readonly cssBundle?: string;
}

/** The default pattern. */
const ENTRY_NAMES = "[dir]/[name]";
const OTHER_NAMES = "[name]-[hash]";
/** The levels at which esbuild prints more than warnings. */
const TALKATIVE: readonly unknown[] = ["info", "debug", "verbose"];

/**
 * Returns a plugin that compresses the output folder after a build, and records in the manifest which names have a
 * hash, so that the static handler need not guess. If a file cannot be compressed, the build fails. A summary is
 * printed together with esbuild's own, with `logLevel: "info"`.
 *
 * esbuild does not inform plugins that it watches or serves: each build of a context is compressed, so that no variant
 * is outdated. Omit the plugin if that takes too long.
 *
 * @param options The options of `precompress()`: see {@linkcode PrecompressPluginOptions}.
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @example Compress a build
 * ```ts
 * import { precompress } from "@millrace/streams/esbuild";
 * import { build } from "esbuild";
 * import { existsSync } from "node:fs";
 *
 * await build({ entryPoints: ["app.js"], outdir: "dist", plugins: [precompress({ formats: ["gzip"] })] });
 * console.log(existsSync("dist/index.html.gz")); // true
 * ```
 */
export function precompress(options: PrecompressPluginOptions = {}): PrecompressPlugin {
  const checked = pluginOptions(options);
  return {
    name: "millrace:precompress",
    setup(build) {
      const { initialOptions } = build as Build;
      const { outdir, outfile, write, logLevel, absWorkingDir: root = process.cwd() } = initialOptions;
      const folder = outdir ?? (outfile === undefined ? undefined : dirname(outfile));
      if (folder === undefined || write === false) return; // the build writes no files
      initialOptions.metafile = true;
      const since = moment();
      const isTalkative = TALKATIVE.includes(logLevel);
      /** The warnings of the build before, which a watch would repeat at each change of a file. */
      let known: readonly string[] = [];
      (build as Build).onEnd(async ({ errors, metafile }) => {
        if (errors.length > 0) return {};
        const told: string[] = [];
        const warn = (text: string): void => void told.push(text);
        const info = (text: string): void => console.error(`\n${text}\n`);
        const logger = isTalkative ? { info, warn } : { warn };
        const output = outputOf(resolve(root, folder), metafile!.outputs, initialOptions, root);
        const tool: Tool = { root, since, option: "outdir", logger };
        try {
          await compressOutput(output, checked, tool);
        } catch (error) {
          return { errors: [{ text: error instanceof Error ? error.message : String(error) }] };
        }
        const warnings = told.filter((text) => !known.includes(text)).map((text) => ({ text }));
        known = told;
        return { warnings };
      });
    },
  };
}

function outputOf(
  folder: string,
  files: Readonly<Record<string, OutputFile>>,
  options: BuildOptions,
  root: string,
): Output {
  const { entryNames = ENTRY_NAMES, chunkNames = OTHER_NAMES, assetNames = OTHER_NAMES, outExtension = {} } = options;
  const ownExtensions = Object.values(outExtension);
  const output = new Output();
  output.addFolder(folder);
  const all = Object.entries(files);
  const styled = new Map(all.map(([path, { cssBundle }]) => [cssBundle, path]));
  const lazy = new Set(
    all.flatMap(([, { imports = [] }]) =>
      imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path)
    ),
  );
  const entries = new Set(
    Object.values(options.entryPoints ?? []).map((entry) =>
      resolve(root, typeof entry === "string" ? entry : entry.in)
    ),
  );
  for (const [path] of all) {
    const own = ownExtensions.find((end) => path.endsWith(end));
    const extension = own ?? extname(path);
    const isCode = own !== undefined || /^\.(?:js|css)$/.test(extension);
    const inner = relative(folder, resolve(root, path));
    const hasHashOf = (pattern: string) =>
      hasHash(inner.slice(0, inner.length - extension.length), pattern, (length) => `[0-9A-Z]{${length}}`);
    const owner = styled.get(path) ?? path;
    const { entryPoint } = files[owner];
    const isNamed = entryPoint === undefined
      ? hasHashOf(isCode ? chunkNames : assetNames)
      // A dynamically imported module that is no entry point of the build is named by the pattern of chunks: after its
      // file, its folder if that is an index.js, or its path in the namespace of a plugin.
      : hasHashOf(entryNames) || lazy.has(owner) && !entries.has(resolve(root, entryPoint)) && hasHashOf(chunkNames);
    output.add(folder, inner, isNamed);
  }
  return output;
}
