import type { PrecompressOptions } from "./options.ts";
import type { RunDetails } from "./report.ts";

/** Runs `precompress()`, and loads it only then, since servers import this module without compressing. */
export async function detailedRun(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const { precompressInDetail } = await import("./precompress.ts");
  return await precompressInDetail(directory, options);
}
