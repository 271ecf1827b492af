import { dictionaryOptions, dictionaryRoute } from "../../../lib/compression/dictionaries/options.ts";
import { eventChannelOptions } from "../../../lib/compression/events/options.ts";
import { createCompression, createEventChannel } from "../../../lib/compression/mod.ts";
import { compressionOptions, levelOptions } from "../../../lib/compression/options.ts";
import { beside, type Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  { schema: compressionOptions, options: "CompressionOptions", take: (options) => createCompression(options) },
  { schema: levelOptions, take: (levels) => createCompression({ levels }) },
  {
    schema: dictionaryOptions,
    options: "DictionaryOptions",
    take: (dictionaries) => createCompression({ dictionaries }),
  },
  {
    schema: dictionaryRoute,
    options: "DictionaryRoute",
    take: (route) =>
      createCompression({ dictionaries: { routes: [beside({ path: "/*", public: true }, route) as never] } }),
  },
  { schema: eventChannelOptions, options: "EventChannelOptions", take: (options) => createEventChannel(options) },
];
