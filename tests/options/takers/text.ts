import { LineStream } from "../../../lib/text/mod.ts";
import { lineStreamOptions } from "../../../lib/text/line_stream.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  { schema: lineStreamOptions, take: (options) => new LineStream(options) },
];
