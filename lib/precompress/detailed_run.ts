import type { PrecompressOptions } from "./options.ts";
import type { RunDetails } from "./report.ts";

/** Runs as `precompress()` does, and loads it only then: servers import this module, but compress nothing. */
export async function detailedRun(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const { precompressInDetail } = await import("./precompress.ts");
  return await precompressInDetail(directory, options);
}
