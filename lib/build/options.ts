import type { PrecompressOptions } from "../precompress/mod.ts";

/**
 * Options of the plugins: those of `precompress()` that make sense in a build. Relative paths are below the project's root.
 *
 * `immutable` adds to what the build knows of its own files. A folder of `previous` that is not there yet, as before the
 * first deploy, is not an error: there are no deltas then, and the summary says so.
 *
 * @example Deltas against the previous deploy, and a copy that survives the next build
 * ```ts
 * import { precompress, type PrecompressPluginOptions } from "@millrace/streams/vite";
 *
 * const options: PrecompressPluginOptions = { out: "site", previous: "deployed" };
 * console.log(precompress(options).name); // millrace:precompress
 * ```
 */
export interface PrecompressPluginOptions extends Omit<PrecompressOptions, "dryRun" | "signal" | "onProgress"> {}
