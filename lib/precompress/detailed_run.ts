import type { PrecompressOptions } from "./options.ts";
import type { RunDetails } from "./report.ts";

/** Runs as `precompress()` does, which is loaded for it: servers import from here, and compress nothing. */
export async function detailedRun(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const { precompressInDetail } = await import("./precompress.ts");
  return await precompressInDetail(directory, options);
}
