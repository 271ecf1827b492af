import * as codecs from "../../../lib/codecs/mod.ts";
import * as schemas from "../../../lib/codecs/options.ts";
import { beside, type Taker } from "../taker.ts";

const bytes = new Uint8Array(1);
const format = "zstd";
await codecs.ready([format]);

export const takers: readonly Taker[] = [
  {
    schema: schemas.compressOptions,
    options: "CompressOptions",
    take: (options) => codecs.compress(bytes, beside({ format }, options)),
  },
  {
    schema: schemas.decompressOptions,
    options: "DecompressOptions",
    take: (options) => codecs.decompress(bytes, beside({ format }, options)),
  },
  { schema: schemas.compressSyncOptions, take: (options) => codecs.compressSync(bytes, beside({ format }, options)) },
  {
    schema: schemas.decompressSyncOptions,
    take: (options) => codecs.decompressSync(bytes, beside({ format }, options)),
  },
  {
    schema: schemas.compressionStreamOptions,
    options: "CompressionStreamOptions",
    take: (options) => new codecs.CompressionStream(format, options),
  },
  {
    schema: schemas.decompressionStreamOptions,
    options: "DecompressionStreamOptions",
    take: (options) => new codecs.DecompressionStream(format, options),
  },
];
