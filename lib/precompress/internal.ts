/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
import type { PrecompressOptions } from "./options.ts";
import type { RunDetails } from "./report.ts";

export { isAddress } from "./cache/cache_store.ts";
export type { LeftAlone } from "./context.ts";
export { levelOptions, precompressOptions } from "./options.ts";
export { requireSound, toldBy } from "./selection.ts";
export { isOwnName, ManifestLines } from "./manifest.ts";
export { isWithin, placesOf } from "./places.ts";
export { explain, explainPlace } from "./problem.ts";
export { originalsIn } from "./tree_files.ts";
export { typeOf } from "./report.ts";
export type { RunDetails };
export { readContent } from "./content.ts";
export { walk } from "./walk.ts";

/** Runs as `precompress()` does, which is loaded for it: servers import from here, and compress nothing. */
export async function detailedRun(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const { precompressInDetail } = await import("./precompress.ts");
  return await precompressInDetail(directory, options);
}
