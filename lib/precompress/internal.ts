/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
import type { PrecompressOptions } from "./options.ts";
import type { RunDetails } from "./report.ts";

export type { LeftAlone } from "./context.ts";
export { levelOptions, precompressOptions } from "./options.ts";
export { requireSound, toldBy } from "./selection.ts";
export { isOwnName, ManifestLines } from "./manifest.ts";
export { isWithin } from "./places.ts";
export { explain, explainPlace } from "./problem.ts";
export { type RunDetails, typeOf } from "./report.ts";

/** Runs as `precompress()` does, which is loaded for it: servers import from beside this, and compress nothing. */
export async function detailedRun(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const { precompressInDetail } = await import("./precompress.ts");
  return await precompressInDetail(directory, options);
}
