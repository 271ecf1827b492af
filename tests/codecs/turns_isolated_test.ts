import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { gzip as gzipOfNode } from "node:zlib";
import { promisify } from "node:util";
import {
  compress,
  CompressionStream,
  compressSync,
  decompress,
  DecompressionStream,
  decompressSync,
  type Format,
  formats,
  ready,
} from "../../lib/codecs/mod.ts";
import { concatenated, sourceText } from "../support/bytes.ts";

const MIB = 1024 * 1024;

/** Counts the turns of the event loop until a promise settles, while each step of a codec seems to take 11 ms. */
async function turnsUntil(promise: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = mock.method(performance, "now", () => now += 11);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await promise();
  isOver = true;
  clock.mock.restore();
  return turns;
}

test("compress() and decompress() take bytes and dictionary as they are at the call, loaded or not", async () => {
  const content = sourceText(300_000);
  for (const format of formats) {
    const base = format === "dcb" || format === "dcz" || format === "zstd" ? sourceText(50_000, 2) : undefined;
    const packed: Uint8Array[] = [];
    for (const _ of ["not loaded", "loaded"]) {
      const bytes = content.slice();
      const dictionary = base?.slice();
      const packing = compress(bytes, { format, level: 5, dictionary });
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      dictionary?.fill(0);
      packed.push(await packing);
    }
    assert.deepEqual(packed[0], compressSync(content, { format, level: 5, dictionary: base }), format);
    assert.deepEqual(packed[1], packed[0], format);
    for (const _ of ["not loaded", "loaded"]) {
      const bytes = packed[0].slice();
      const dictionary = base?.slice();
      const reading = decompress(bytes, { format, dictionary });
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      dictionary?.fill(0);
      assert.deepEqual(await reading, content, format);
    }
  }
});

test("streams take their dictionary as it is when they are made", async () => {
  const content = sourceText(10_000);
  const base = sourceText(50_000, 2);
  for (const format of ["dcb", "dcz"] as const) {
    const dictionary = base.slice();
    const encoder = new CompressionStream(format, { dictionary });
    const decoder = new DecompressionStream(format, { dictionary });
    dictionary.fill(0);
    const body = new Blob([content]).stream().pipeThrough(encoder).pipeThrough(decoder);
    assert.deepEqual(await new Response(body).bytes(), content);
  }
});

test("brotli whole, compressed block by block, has the bytes that one step gives", async () => {
  const block = 2 ** 18;
  const text = concatenated(new Array<Uint8Array>(40).fill(sourceText(20_000)));
  for (const level of [2, 4, 5, 9, 10]) {
    for (const size of [block, block + 1, 2 * block, 3 * block]) {
      const bytes = text.subarray(0, size);
      const options = { format: "brotli", level } as const;
      assert.deepEqual(await compress(bytes, options), compressSync(bytes, options), `level ${level}, ${size} bytes`);
    }
  }
});

/** Levels of each of a codec's algorithms. */
const LEVELS = { gzip: [1, 2, 6, 9, 12], deflate: [4], zstd: [1, 3, 5, 7, 13, 16, 19], brotli: [2] } as const;

test("long work of compress() lets others have their turns after each block", async () => {
  await ready();
  const content = concatenated(new Array<Uint8Array>(53).fill(sourceText(20_000)));
  for (const [format, levels] of Object.entries(LEVELS) as [Format, readonly number[]][]) {
    for (const level of levels) {
      let packed = new Uint8Array(0);
      const turns = await turnsUntil(async () => packed = await compress(content, { format, level }));
      assert.ok(turns >= 3, `${turns} turns for 1 MB by ${format} ${level}`);
      assert.deepEqual(decompressSync(packed, { format }), content);
    }
  }
});

test("long work of decompress() lets others have their turns", async () => {
  const packed = compressSync(new Uint8Array(17 * MIB), { format: "gzip", level: 1 });
  const turns = await turnsUntil(() => decompress(packed, { format: "gzip" }));
  assert.ok(turns >= 1, "no turn in two steps of the decoder");
});

test("what holds nothing lets others have their turns while it is decompressed", async () => {
  await ready();
  const nothing = new Uint8Array(0);
  const skipped = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0); // a frame of RFC 8878, section 3.1.2
  const cases: readonly (readonly [Format, Uint8Array])[] = [
    ["gzip", compressSync(nothing, { format: "gzip" })],
    ["zstd", compressSync(nothing, { format: "zstd" })],
    ["zstd", skipped],
    ["deflate-raw", Uint8Array.of(0, 0, 0, 0xff, 0xff)], // an empty block, stored
  ];
  for (const [format, part] of cases) {
    const body = concatenated(new Array<Uint8Array>(Math.ceil(2 * MIB / part.length) + 1).fill(part));
    const turns = await turnsUntil(() => decompress(body, { format, maxSize: 1000 }).catch(() => {}));
    assert.ok(turns >= 2, `${turns} turns for 2 MiB of ${format}`);
  }
});

test("a signal ends compress() between blocks, and decompress()", async () => {
  const reason = new Error("enough");
  const content = sourceText(3 * MIB);
  for (const format of ["gzip", "zstd", "brotli"] as const) {
    const control = new AbortController();
    let turns = 0;
    await turnsUntil(async () => {
      setImmediate(() => control.abort(reason));
      const counting = setInterval(() => turns++, 0);
      await assert.rejects(compress(content, { format, level: 5, signal: control.signal }), reason);
      clearInterval(counting);
    });
    assert.ok(turns < 3, format);
    await assert.rejects(compress(content, { format, signal: control.signal }), reason);
    const packed = compressSync(content, { format, level: 5 });
    await assert.rejects(decompress(packed, { format, signal: control.signal }), reason);
  }
});

for (const format of ["gzip", "zstd", "brotli"] as const) {
  test(`a chunk that takes long lets others have their turns while it is compressed to ${format}`, async () => {
    await ready([format]);
    const { readable, writable } = new CompressionStream(format, { level: 1 });
    const all = new Response(readable).bytes();
    const writer = writable.getWriter();
    const turns = await turnsUntil(() => writer.write(new Uint8Array(MIB)));
    assert.ok(turns >= 14, `${turns} turns for 16 pieces`);
    await writer.close();
    await all;
  });
}

test("a chunk that grows lets others have their turns while it is decompressed", async () => {
  await ready(["gzip"]);
  const { readable, writable } = new DecompressionStream("gzip");
  const all = new Response(readable).bytes();
  const writer = writable.getWriter();
  const small = new Uint8Array(await promisify(gzipOfNode)(new Uint8Array(MIB)));
  const turns = await turnsUntil(() => writer.write(small));
  assert.ok(turns >= 14, `${turns} turns for 16 pieces`);
  await writer.close();
  assert.equal((await all).length, MIB);
});

test("an abort ends what computes", async () => {
  await ready(["zstd"]);
  const { readable, writable } = new CompressionStream("zstd", { level: 1 });
  const reading = assert.rejects(new Response(readable).bytes());
  const writer = writable.getWriter();
  const turns = await turnsUntil(async () => {
    const writing = writer.write(new Uint8Array(64 * MIB)); // a thousand pieces
    writing.catch(() => {});
    const reason = new Error("enough");
    setImmediate(() => void writer.abort(reason));
    await assert.rejects(writing, reason);
  });
  assert.ok(turns < 50, `${turns} turns`);
  await reading;
});
