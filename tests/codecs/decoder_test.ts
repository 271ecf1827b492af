import assert from "node:assert/strict";
import test from "node:test";
import { openDecoder } from "../../lib/codecs/internal.ts";
import { compress, type Format } from "../../lib/codecs/mod.ts";
import { concatenated, noise, piecesOf } from "../support/bytes.ts";
import { samples } from "./samples.ts";

type Plain = Exclude<Format, "dcb" | "dcz">;
const plain: readonly Plain[] = ["zstd", "brotli", "gzip", "deflate", "deflate-raw"];

/** Decodes `pieces` into a buffer of `size` bytes that is used again and again. */
async function decoded(pieces: readonly Uint8Array[], format: Plain, size: number): Promise<Uint8Array> {
  const decoder = await openDecoder(format);
  const target = new Uint8Array(size);
  const parts: Uint8Array[] = [];
  try {
    for (const piece of pieces) {
      decoder.write(piece);
      while (decoder.more) parts.push(target.slice(0, decoder.read(target)));
    }
    do parts.push(target.slice(0, decoder.finish(target))); while (decoder.more);
    return concatenated(parts);
  } finally {
    decoder.close();
  }
}

for (const format of plain) {
  test(`a decoder of ${format} fills buffers of any size from pieces of any size`, async () => {
    for (const [name, bytes] of Object.entries(samples)) {
      const small = await compress(bytes, { format, level: 3 });
      for (const [most, size] of [[7, 4096], [1000, 61], [100_000, 100_000]] as const) {
        const result = await decoded(piecesOf(small, most), format, size);
        assert.deepEqual(result, bytes, `${name}, pieces of ${most}, buffers of ${size}`);
      }
    }
  });

  test(`a decoder of ${format} refuses what is corrupt and what ends too early`, async () => {
    const small = await compress(noise(5000), { format, level: 3 });
    await assert.rejects(decoded([small.subarray(0, -1)], format, 1000), { name: "TypeError" });
    await assert.rejects(decoded([small, new Uint8Array(1)], format, 1000), { name: "TypeError" });
  });
}

test("a decoder of zstd refuses windows larger than told", async () => {
  const bytes = new Uint8Array(2 ** 22).fill(7);
  const small = await compress(bytes, { format: "zstd", level: 1, windowLog: 21 });
  for (const [maxWindow, refused] of [[2 ** 21 - 1, true], [2 ** 21, false]] as const) {
    const decoder = await openDecoder("zstd", { maxWindow });
    decoder.write(small);
    const read = () => decoder.read(new Uint8Array(1000));
    if (refused) assert.throws(read, { name: "RangeError", message: /larger window than maxWindow, 2097151 bytes/ });
    else assert.equal(read(), 1000);
    decoder.close();
    decoder.close();
  }
});

test("a decoder that needs a dictionary cannot be opened", async () => {
  await assert.rejects(openDecoder("dcz" as Plain), { name: "TypeError", message: /needs a dictionary/ });
});
