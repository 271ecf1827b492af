import { cleanOptions } from "../../../lib/precompress/clean.ts";
import { cleanPrecompressed, precompress } from "../../../lib/precompress/mod.ts";
import { levelOptions, precompressOptions } from "../../../lib/precompress/options.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: precompressOptions,
    options: "PrecompressOptions",
    take: (options, folder) => precompress(folder, options),
  },
  { schema: levelOptions, take: (levels, folder) => precompress(folder, { levels }) },
  { schema: cleanOptions, options: "CleanOptions", take: (options, folder) => cleanPrecompressed(folder, options) },
];
