import * as codecs from "../../../lib/codecs/mod.ts";
import { compressionStreamOptions, decompressionStreamOptions } from "../../../lib/codecs/options.ts";
import { compressOptions, decompressOptions } from "../../../lib/codecs/pump.ts";
import * as whole from "../../../lib/codecs/whole.ts";
import { beside, type Taker } from "../taker.ts";

const bytes = new Uint8Array(1);
const format = "zstd";
await codecs.ready([format]);

export const takers: readonly Taker[] = [
  {
    schema: compressOptions,
    options: "CompressOptions",
    take: (options) => codecs.compress(bytes, beside({ format }, options)),
  },
  {
    schema: decompressOptions,
    options: "DecompressOptions",
    take: (options) => codecs.decompress(bytes, beside({ format }, options)),
  },
  { schema: whole.compressSyncOptions, take: (options) => codecs.compressSync(bytes, beside({ format }, options)) },
  { schema: whole.decompressSyncOptions, take: (options) => codecs.decompressSync(bytes, beside({ format }, options)) },
  {
    schema: compressionStreamOptions,
    options: "CompressionStreamOptions",
    take: (options) => new codecs.CompressionStream(format, options),
  },
  {
    schema: decompressionStreamOptions,
    options: "DecompressionStreamOptions",
    take: (options) => new codecs.DecompressionStream(format, options),
  },
];
