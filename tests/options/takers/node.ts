import { Writable } from "node:stream";
import { fromNodeWritableOptions } from "../../../lib/node/from_node_writable.ts";
import { fromNodeWritable } from "../../../lib/node/mod.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: fromNodeWritableOptions,
    options: "FromNodeWritableOptions",
    take: (options) => fromNodeWritable(new Writable(), options),
  },
];
