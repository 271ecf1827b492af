import { logDestinationOptions } from "../../../lib/pino/log_destination.ts";
import { openLogDestination } from "../../../lib/pino/mod.ts";
import { beside, type Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: logDestinationOptions,
    options: "LogDestinationOptions",
    take: (options, directory) => openLogDestination(beside({ directory, maxFileSize: 1 }, options)),
  },
];
