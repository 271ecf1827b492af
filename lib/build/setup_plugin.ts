/**
 * A plugin of esbuild or of Bun's bundler.
 *
 * @example Only where it is wanted
 * ```ts
 * import { precompress, type PrecompressPlugin } from "@millrace/streams/esbuild";
 * import process from "node:process";
 *
 * const plugins: PrecompressPlugin[] = process.env.PREVIEW ? [] : [precompress()];
 * console.log(plugins[0].name); // millrace:precompress
 * ```
 */
export interface PrecompressPlugin {
  /** The name by which messages of the tool call it. */
  readonly name: string;
  /** Called by the tool, with its own object for plugins. */
  setup(build: object): void;
}
