import { precompress as forBun } from "../../../lib/build/bun.ts";
import { pluginOptions } from "../../../lib/build/compress_output.ts";
import { precompress as forEsbuild } from "../../../lib/build/esbuild.ts";
import { precompress as forVite } from "../../../lib/build/vite.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [forBun, forEsbuild, forVite].map((plugin) => {
  return { schema: pluginOptions, take: (options) => plugin(options) };
});
