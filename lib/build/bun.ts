/**
 * A plugin for Bun's bundler that compresses the output of a build, by `precompress()`.
 *
 * @example In a build script
 * ```ts bun
 * import { precompress } from "@millrace/streams/bun";
 *
 * await Bun.build({ entrypoints: ["app.js"], outdir: "dist", plugins: [precompress({ levels: { brotli: 9 } })] });
 * ```
 *
 * @module
 */
import { relative, resolve } from "node:path";
import process from "node:process";
import {
  compressOutput,
  moment,
  Output,
  pluginOptions,
  type PrecompressPlugin,
  type PrecompressPluginOptions,
  type Tool,
} from "./compress_output.ts";

export type { PrecompressPluginOptions } from "./compress_output.ts";
export type { PrecompressPlugin } from "./compress_output.ts";

/** The part of Bun's `PluginBuilder` used here. */
interface Build {
  readonly config: { readonly outdir?: string; readonly root?: string };
  onEnd(callback: (result: Result) => Promise<void>): void;
}

interface Result {
  readonly success: boolean;
  readonly outputs: readonly Artifact[];
}

interface Artifact {
  readonly kind: string;
  readonly path: string;
  readonly hash: string | null;
}

/**
 * Returns a plugin that compresses the output folder after a build, and records in the manifest which names have a
 * hash, so that the static handler need not guess. If a file cannot be compressed, the build fails.
 *
 * @param options The options of `precompress()`: see {@linkcode PrecompressPluginOptions}.
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @example Compress a build
 * ```ts bun
 * import { precompress } from "@millrace/streams/bun";
 * import { existsSync } from "node:fs";
 *
 * await Bun.build({ entrypoints: ["app.js"], outdir: "dist", plugins: [precompress({ formats: ["gzip"] })] });
 * console.log(existsSync("dist/index.html.gz")); // true
 * ```
 */
export function precompress(options: PrecompressPluginOptions = {}): PrecompressPlugin {
  const checked = pluginOptions(options);
  return {
    name: "millrace:precompress",
    setup(build) {
      const { config } = build as Build;
      if (config.outdir === undefined) return; // the build writes no files
      const tool: Tool = { root: process.cwd(), since: moment(), option: "outdir", logger: console };
      const folder = resolve(config.outdir);
      (build as Build).onEnd(async ({ success, outputs }) => {
        if (success) await compressOutput(outputOf(folder, outputs), checked, tool);
      });
    },
  };
}

function outputOf(folder: string, artifacts: readonly Artifact[]): Output {
  const output = new Output();
  output.addFolder(folder);
  for (const { kind, path, hash } of artifacts) {
    // A source map has its script's name, whose hash does not cover the map.
    const inner = relative(folder, resolve(path));
    output.add(folder, inner, kind !== "sourcemap" && hash !== null && inner.includes(hash));
  }
  return output;
}
