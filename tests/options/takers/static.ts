import { createStaticHandler } from "../../../lib/static/mod.ts";
import { staticHandlerOptions } from "../../../lib/static/internal.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: staticHandlerOptions,
    options: "StaticHandlerOptions",
    take: (options, folder) => createStaticHandler(folder, options),
  },
];
