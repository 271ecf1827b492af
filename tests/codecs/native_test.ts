import assert from "node:assert/strict";
import test from "node:test";
import zlib from "node:zlib";
import {
  compress,
  CompressionStream,
  decompress,
  DecompressionStream,
  type Format,
  levels,
} from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, piecesOf, sourceText } from "../support/bytes.ts";
import { levelsTried, samplesAt } from "./samples_at.ts";

type Plain = Exclude<Format, "dcb" | "dcz">;
type Bytes = Uint8Array<ArrayBuffer>;

interface Native {
  readonly levels: readonly [number, number];
  compress(bytes: Bytes, level: number): Bytes;
  decompress(bytes: Bytes): Bytes;
}

const bytesOf = (buffer: Uint8Array): Bytes => Uint8Array.from(buffer);

/** The runtime's own codecs, for the formats that it has. */
const natives: Readonly<Partial<Record<Plain, Native>>> = {
  brotli: {
    levels: [0, 11],
    compress: (bytes, level) =>
      bytesOf(zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: level } })),
    decompress: (bytes) => bytesOf(zlib.brotliDecompressSync(bytes)),
  },
  zstd: {
    levels: [1, 22],
    compress: (bytes, level) =>
      bytesOf(zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: level } })),
    decompress: (bytes) => bytesOf(zlib.zstdDecompressSync(bytes)),
  },
  gzip: {
    levels: [1, 9],
    compress: (bytes, level) => bytesOf(zlib.gzipSync(bytes, { level })),
    decompress: (bytes) => bytesOf(zlib.gunzipSync(bytes)),
  },
  deflate: {
    levels: [1, 9],
    compress: (bytes, level) => bytesOf(zlib.deflateSync(bytes, { level })),
    decompress: (bytes) => bytesOf(zlib.inflateSync(bytes)),
  },
  "deflate-raw": {
    levels: [1, 9],
    compress: (bytes, level) => bytesOf(zlib.deflateRawSync(bytes, { level })),
    decompress: (bytes) => bytesOf(zlib.inflateRawSync(bytes)),
  },
};

for (const [name, native] of Object.entries(natives)) {
  const format = name as Plain;

  test(`the runtime's own decoder reads every level of our ${format}, whole and streamed`, async () => {
    for (const level of levelsTried(levels[format])) {
      for (const [sample, bytes] of Object.entries(samplesAt(level, levels[format]))) {
        const whole = await compress(bytes, { format, level });
        assert.deepEqual(native.decompress(whole), bytes, `${sample}, level ${level}`);
        const streamed = streamOf(piecesOf(bytes, 20_000)).pipeThrough(new CompressionStream(format, { level }));
        assert.deepEqual(native.decompress(await collected(streamed)), bytes, `${sample}, level ${level}, streamed`);
      }
    }
  });

  test(`we read every level of the runtime's own ${format}, whole and streamed`, async () => {
    const [min, max] = native.levels;
    for (const level of levelsTried({ min, max })) {
      for (const [sample, bytes] of Object.entries(samplesAt(level, { min, max }))) {
        const small = native.compress(bytes, level);
        const options = format === "zstd" ? { maxWindow: 2 ** 27 } : {};
        assert.deepEqual(await decompress(small, { format, ...options }), bytes, `${sample}, level ${level}`);
        const streamed = streamOf(piecesOf(small, 7000)).pipeThrough(new DecompressionStream(format, options));
        assert.deepEqual(await collected(streamed), bytes, `${sample}, level ${level}, streamed`);
      }
    }
  });
}

test("the runtime's own zstd decoder reads dcz after its header, with the dictionary", async () => {
  const dictionary = sourceText(80_000, 3);
  const bytes = concatenated([dictionary.subarray(500), sourceText(3000, 5)]);
  const small = await compress(bytes, { format: "dcz", dictionary });
  const frame = small.subarray(40);
  assert.deepEqual(await decompress(frame, { format: "zstd", dictionary }), bytes);
  const options: zlib.ZstdOptions & { dictionary?: Uint8Array } = { dictionary };
  if (!supportsZstdDictionaries()) return console.log("skipped: this runtime's zstd takes no dictionary");
  assert.deepEqual(bytesOf(zlib.zstdDecompressSync(frame, options)), bytes);
});

function supportsZstdDictionaries(): boolean {
  const dictionary = sourceText(2000, 1);
  const options = { dictionary } as zlib.ZstdOptions;
  return zlib.zstdCompressSync(dictionary, options).length < 100;
}
