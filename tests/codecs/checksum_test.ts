import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import zlib from "node:zlib";
import {
  compress,
  CompressionStream,
  type CompressOptions,
  compressSync,
  decompress,
  decompressSync,
  type Format,
  formats,
  ready,
} from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, noise, piecesOf, sourceText } from "../support/bytes.ts";

const bytes = sourceText(50_000);
const dictionary = sourceText(5000, 7);
const CHECKSUM = 4; // bytes

for (const format of ["zstd", "dcz"] as const) {
  const known = format === "dcz" ? { dictionary } : {};

  test(`a checksum at the end of ${format} is asked for, and tells damage that would pass otherwise`, async () => {
    for (const level of [1, 3, 19]) {
      const plain = await compress(bytes, { format, level, ...known });
      const checked = await compress(bytes, { format, level, checksum: true, ...known });
      assert.equal(checked.length, plain.length + CHECKSUM);
      assert.deepEqual(await decompress(checked, { format, ...known }), bytes);
      assert.deepEqual(await compress(bytes, { format, level, checksum: false, ...known }), plain);
      checked[checked.length - 1] ^= 1;
      await assert.rejects(decompress(checked, { format, ...known }), { name: "TypeError" });
    }
    // Content that is stored as it is: only the checksum can show a changed byte.
    const stored = await compress(noise(1000, 1), { format, checksum: true, ...known });
    stored[stored.length - 100] ^= 1;
    await assert.rejects(decompress(stored, { format, ...known }), { name: "TypeError" });
  });

  test(`a stream of ${format} with a checksum, and one that was compressed at once, decompress alike`, async () => {
    await ready([format]);
    const options: CompressOptions = { format, checksum: true, ...known };
    assert.deepEqual(compressSync(bytes, options), await compress(bytes, options));
    const stream = new CompressionStream(format, { checksum: true, ...known });
    const streamed = concatenated([await collected(streamOf(piecesOf(bytes, 7000)).pipeThrough(stream))]);
    assert.deepEqual(await decompress(streamed, { format, ...known }), bytes);
    streamed[streamed.length - 1] ^= 1;
    await assert.rejects(decompress(streamed, { format, ...known }), { name: "TypeError" });
  });
}

test("Adler-32 is zlib's at each length, in pieces too, of bytes that let its sums grow most as well", async () => {
  await ready(["deflate"]);
  const lengths = [...Array(50).keys(), ...Array(40).keys().map((i) => 5552 - 20 + i), 2 * 5552, 65_536, 200_001];
  for (const length of lengths) {
    for (const content of [new Uint8Array(length).fill(255), noise(length, length)]) {
      const stored = new Uint8Array(zlib.deflateSync(content, { level: 0 }));
      assert.equal(Buffer.compare(decompressSync(stored, { format: "deflate" }), content), 0, `${length} bytes`);
      const whole = compressSync(content, { format: "deflate", level: 1 });
      const pieces = streamOf(piecesOf(content, 1 + length % 7000)).pipeThrough(new CompressionStream("deflate"));
      const streamed = concatenated([await collected(pieces)]);
      for (const packed of [whole, streamed]) assert.deepEqual(packed.slice(-CHECKSUM), stored.slice(-CHECKSUM));
    }
  }
});

test("the zstd command tells damage by our checksum", {
  skip: spawnSync("zstd", ["--version"]).status === 0 ? false : "zstd is not installed",
}, async () => {
  const checked = await compress(bytes, { format: "zstd", checksum: true });
  const tested = (input: Uint8Array): string => String(spawnSync("zstd", ["-t"], { input }).stderr);
  assert.equal(spawnSync("zstd", ["-t"], { input: checked }).status, 0);
  checked[checked.length - 1] ^= 1;
  assert.match(tested(checked), /checksum/i);
});

test("a checksum that is nobody's choice, or no boolean, is refused", async () => {
  for (const format of formats as readonly Format[]) {
    if (format === "zstd" || format === "dcz") continue;
    await assert.rejects(compress(bytes, { format, checksum: true, ...(format === "dcb" && { dictionary }) }), {
      name: "TypeError",
      message: `checksum does not apply to ${format}: use zstd or dcz`,
    });
  }
  await assert.rejects(compress(bytes, { format: "zstd", checksum: 1 as unknown as boolean }), {
    name: "TypeError",
    message: "checksum must be true or false, not 1",
  });
  assert.throws(() => new CompressionStream("gzip", { checksum: true }), { name: "TypeError" });
});
