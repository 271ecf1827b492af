import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import {
  compress,
  CompressionStream,
  compressSync,
  decompress,
  DecompressionStream,
  decompressSync,
  type Format,
  formats,
  levels,
  ready,
} from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, piecesOf, sourceText } from "../support/bytes.ts";
import { samples } from "./samples.ts";
import { levelsTried, samplesAt } from "./samples_at.ts";

const dictionary = sourceText(50_000, 9);
const withDictionary = (format: Format) => format === "dcb" || format === "dcz" ? { dictionary } : {};

for (const format of formats) {
  test(`decompress() restores what compress() made at every level of ${format}`, async () => {
    for (const level of levelsTried(levels[format])) {
      for (const [name, bytes] of Object.entries(samplesAt(level, levels[format]))) {
        const small = await compress(bytes, { format, level, ...withDictionary(format) });
        const back = await decompress(small, { format, ...withDictionary(format) });
        assert.deepEqual(back, bytes, `${name}, level ${level}`);
      }
    }
  });

  test(`streams restore every sample, in pieces of any size, through ${format}`, async () => {
    for (const [name, bytes] of Object.entries(samples)) {
      for (const most of [1000, 40_000, 1 << 20]) {
        const level = Math.min(5, levels[format].max);
        const small = await collected(
          streamOf(piecesOf(bytes, most)).pipeThrough(
            new CompressionStream(format, { level, ...withDictionary(format) }),
          ),
        );
        const back = streamOf(piecesOf(small, most)).pipeThrough(
          new DecompressionStream(format, withDictionary(format)),
        );
        assert.deepEqual(await collected(back), bytes, `${name}, pieces up to ${most}`);
        assert.deepEqual(await decompress(small, { format, ...withDictionary(format) }), bytes, `${name}, whole`);
      }
    }
  });

  test(`compressSync() and decompressSync() agree with their promised twins for ${format}`, async () => {
    await ready([format]);
    const bytes = samples["source text"]!;
    const small = compressSync(bytes, { format, ...withDictionary(format) });
    assert.deepEqual(small, await compress(bytes, { format, ...withDictionary(format) }));
    assert.deepEqual(decompressSync(small, { format, ...withDictionary(format) }), bytes);
  });
}

test("decompress() reads one byte at a time as a stream", async () => {
  const bytes = sourceText(3000);
  for (const format of formats) {
    const small = await compress(bytes, { format, ...withDictionary(format) });
    const single = Array.from(small, (byte) => new Uint8Array([byte]));
    const stream = streamOf(single).pipeThrough(new DecompressionStream(format, withDictionary(format)));
    assert.deepEqual(await collected(stream), bytes, format);
  }
});

test("a dictionary makes zstd and brotli output smaller", async () => {
  const next = concatenated([dictionary.subarray(0, 30_000), sourceText(500, 4), dictionary.subarray(30_000)]);
  for (const format of ["zstd", "brotli"] as const) {
    const plain = await compress(next, { format });
    const small = await compress(next, { format, dictionary });
    assert.ok(small.length * 5 < plain.length, `${format}: ${small.length} against ${plain.length}`);
    assert.deepEqual(await decompress(small, { format, dictionary }), next);
  }
});

test("dcb and dcz begin with their magic number and the dictionary's SHA-256", async () => {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", dictionary));
  const magic = { dcb: [0xff, 0x44, 0x43, 0x42], dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0] };
  for (const format of ["dcb", "dcz"] as const) {
    const small = await compress(sourceText(1000), { format, dictionary });
    assert.deepEqual(
      small.subarray(0, magic[format].length + 32),
      concatenated([Uint8Array.from(magic[format]), hash]),
    );
  }
});

test("compress() takes any view and buffer, and only its part of the buffer", async () => {
  const bytes = sourceText(4000);
  const expected = await compress(bytes.slice(1000, 2000), { format: "gzip" });
  const view = new DataView(bytes.buffer, 1000, 1000);
  assert.deepEqual(await compress(view, { format: "gzip" }), expected);
  assert.deepEqual(await compress(bytes.slice(1000, 2000).buffer, { format: "gzip" }), expected);
});

test("zeros behind gzip are padding where that is asked for, and junk where it is not or something follows them", async () => {
  const content = new TextEncoder().encode("the mill turns ".repeat(5000));
  const packed = await compress(content, { format: "gzip" });
  const padded = (...ends: number[]): Uint8Array<ArrayBuffer> => new Uint8Array([...packed, ...packed, ...ends]);
  const twice = new Uint8Array([...content, ...content]);
  const zeros = new Array(1500).fill(0);
  const read = async (bytes: Uint8Array<ArrayBuffer>, cut: number): Promise<Uint8Array> => {
    const pieces = streamOf([bytes.subarray(0, cut), bytes.subarray(cut)]);
    return await collected(pieces.pipeThrough(new DecompressionStream("gzip", { padding: true })));
  };
  for (const cut of [1, packed.length, 2 * packed.length, 2 * packed.length + 700]) {
    assert.deepEqual(await read(padded(...zeros), cut), twice);
    await assert.rejects(read(padded(...zeros, 1), cut), /unexpected bytes after the end/);
    await assert.rejects(read(padded(...zeros, ...packed), cut), /unexpected bytes after the end/);
  }
  assert.deepEqual(await decompress(padded(0), { format: "gzip", padding: true }), twice);
  assert.deepEqual(await decompress(padded(), { format: "gzip", padding: true }), twice);
  await assert.rejects(decompress(padded(0), { format: "gzip" }), /unexpected bytes after the end/);
  await assert.rejects(decompress(packed.subarray(0, -1), { format: "gzip", padding: true }), /ends before/);
  assert.throws(() => new DecompressionStream("zstd", { padding: true }), {
    name: "TypeError",
    message: "padding does not apply to zstd: use gzip",
  });
});

test("hundreds of gzip members or zstd frames are read as one, empty ones too, however they are cut", async () => {
  const { integer, array } = fc;
  for (const format of ["gzip", "zstd"] as const) {
    await ready([format]);
    const contents = [0, 1, 10, 300, 3000].map((length) => sourceText(length));
    const members = contents.map((bytes) => compressSync(bytes, { format }));
    const kinds = array(integer({ min: 0, max: 4 }), { minLength: 300, maxLength: 1000, size: "max" });
    const model = fc.asyncProperty(kinds, integer({ min: 50, max: 5000 }), async (kinds, most) => {
      const packed = concatenated(kinds.map((kind) => members[kind]));
      const expected = concatenated(kinds.map((kind) => contents[kind]));
      assert.deepEqual(decompressSync(packed, { format }), expected);
      const stream = streamOf(piecesOf(packed, most)).pipeThrough(new DecompressionStream(format));
      assert.deepEqual(await collected(stream), expected);
    });
    await fc.assert(model, { numRuns: 3 });
  }
});

test("a gzip member cannot refer to bytes of the one before it", async () => {
  const header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
  const copyOfThreeBytes = [0x03, 0x02, 0x00]; // from a distance of 1
  const borrowing = new Uint8Array([...header, ...copyOfThreeBytes, ...new Array(8).fill(0)]);
  const both = concatenated([await compress(sourceText(3000), { format: "gzip" }), borrowing]);
  await assert.rejects(decompress(both, { format: "gzip" }), /invalid distance too far back/);
  for (const most of [1, 100, both.length]) {
    const stream = streamOf(piecesOf(both, most)).pipeThrough(new DecompressionStream("gzip"));
    await assert.rejects(collected(stream), /invalid distance too far back/);
  }
});

test("zstd output for the web keeps its window within 8 MiB at every level", async () => {
  const { readFrameWindow } = await import("./zstd_frame.ts");
  for (const level of [19, 20, 22]) {
    const streamed = streamOf([sourceText(100_000)]).pipeThrough(new CompressionStream("zstd", { level }));
    assert.ok(readFrameWindow(await collected(streamed)) <= 8 * 2 ** 20, `level ${level}`);
  }
});

test("bytes may be any view or buffer, on shared memory too", async () => {
  const text = sourceText(5000, 3);
  const shared = new Uint8Array(new SharedArrayBuffer(text.length));
  shared.set(text);
  const own = text.slice();
  const whole = await compress(text, { format: "zstd" });
  for (const input of [shared, shared.buffer, new DataView(shared.buffer), own.buffer, new DataView(own.buffer)]) {
    assert.deepEqual(await compress(input, { format: "zstd" }), whole);
    const stream = new CompressionStream("zstd", { size: text.length });
    const writer = stream.writable.getWriter();
    const bytes = collected(stream.readable);
    await writer.write(input);
    await writer.close();
    assert.deepEqual(await decompress(await bytes, { format: "zstd" }), text);
  }
});
