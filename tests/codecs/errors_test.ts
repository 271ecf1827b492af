import assert from "node:assert/strict";
import test from "node:test";
import {
  compress,
  CompressionStream,
  decompress,
  DecompressionStream,
  type Format,
  formats,
  ready,
} from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, noise, sha256, sourceText } from "../support/bytes.ts";

const bytes = sourceText(20_000);
const dictionary = sourceText(5000, 7);
const withDictionary = (format: Format) => format === "dcb" || format === "dcz" ? { dictionary } : {};
const unchecked = (value: unknown): never => value as never;

/** Decompresses data whole and streamed, and requires the same error of both. */
async function failsToDecompress(data: Uint8Array<ArrayBuffer>, format: Format, error: object): Promise<void> {
  await assert.rejects(decompress(data, { format, ...withDictionary(format) }), error);
  const stream = streamOf([data]).pipeThrough(new DecompressionStream(format, withDictionary(format)));
  await assert.rejects(collected(stream), error);
}

test("a format that does not exist is refused with the ones that do", async () => {
  const error = { name: "TypeError", message: /unknown format "lzma": use one of zstd, brotli, gzip/ };
  await assert.rejects(compress(bytes, { format: unchecked("lzma") }), error);
  await assert.rejects(decompress(bytes, { format: unchecked("lzma") }), error);
  assert.throws(() => new CompressionStream(unchecked("lzma")), error);
  assert.throws(() => new DecompressionStream(unchecked("lzma")), error);
  await assert.rejects(compress(bytes, { format: unchecked("toString") }), { name: "TypeError" });
});

test("a level out of range is refused with the range", async () => {
  const cases: [Format, number, RegExp][] = [
    ["zstd", 23, /level 23 is out of range for zstd: use 1 to 22/],
    ["zstd", 0, /level 0 is out of range for zstd/],
    ["brotli", 12, /level 12 is out of range for brotli: use 0 to 11/],
    ["brotli", -1, /level -1 is out of range for brotli/],
    ["gzip", 13, /level 13 is out of range for gzip: use 1 to 12/],
    ["gzip", 1.5, /level 1.5 is out of range: use a whole number/],
    ["deflate", NaN, /level NaN is out of range: use a whole number/],
  ];
  for (const [format, level, message] of cases) {
    await assert.rejects(compress(bytes, { format, level }), { name: "RangeError", message });
    assert.throws(() => new CompressionStream(format, { level }), { name: "RangeError", message });
  }
});

test("a window out of range, or where there is none to choose, is refused", async () => {
  await assert.rejects(compress(bytes, { format: "zstd", windowLog: 28 }), {
    name: "RangeError",
    message: /windowLog 28 is out of range for zstd: use 10 to 27/,
  });
  await assert.rejects(compress(bytes, { format: "brotli", windowLog: 25 }), {
    name: "RangeError",
    message: /10 to 24/,
  });
  await assert.rejects(compress(bytes, { format: "gzip", windowLog: 15 }), { name: "RangeError", message: /32 KiB/ });
});

test("a direction that is neither of the two is refused, as is a format that is no primitive text", async () => {
  await assert.rejects(ready(["gzip"], unchecked("Compress")), { name: "TypeError", message: /direction must be/ });
  await assert.rejects(ready(unchecked("gzip")), { name: "TypeError", message: /wanted must be a list of formats/ });
  await assert.rejects(compress(bytes, { format: unchecked(new String("gzip")) }), TypeError);
});

test("input that is not bytes is refused by name", async () => {
  await assert.rejects(compress(unchecked("text"), { format: "gzip" }), {
    name: "TypeError",
    message: 'bytes must be a Uint8Array, another view or an ArrayBuffer, not "text"',
  });
  const stream = streamOf<never>([unchecked({})]).pipeThrough(new CompressionStream("gzip"));
  await assert.rejects(collected(stream), { name: "TypeError", message: /chunk must be a Uint8Array.*not an Object/ });
});

test("a dictionary is required by dcb and dcz and refused by the deflate formats", async () => {
  await assert.rejects(compress(bytes, { format: "dcb" }), { name: "TypeError", message: /dcb needs a dictionary/ });
  await assert.rejects(compress(bytes, { format: "dcz", dictionary: new Uint8Array(0) }), { name: "TypeError" });
  await assert.rejects(compress(bytes, { format: "gzip", dictionary }), {
    name: "TypeError",
    message: /does not apply to gzip/,
  });
});

for (const format of formats) {
  test(`truncated ${format} is refused, wherever it is cut`, async () => {
    const small = await compress(bytes, { format, ...withDictionary(format) });
    for (const length of [0, 1, 3, 20, 45, Math.floor(small.length / 2), small.length - 1]) {
      await failsToDecompress(small.slice(0, length), format, { name: "TypeError" });
    }
  });

  test(`bytes after the end of ${format} are refused`, async () => {
    const small = await compress(bytes, { format, ...withDictionary(format) });
    await failsToDecompress(concatenated([small, new Uint8Array([0])]), format, { name: "TypeError" });
    await failsToDecompress(concatenated([small, noise(100)]), format, { name: "TypeError" });
  });

  test(`noise is never read as ${format} without an end`, async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const result = await decompress(noise(500, seed), { format, ...withDictionary(format) }).catch((error) => error);
      assert.ok(result instanceof TypeError || result instanceof Uint8Array, String(result));
    }
  });
}

test("a view that its buffer no longer holds is refused, an empty one is none", async () => {
  const buffer = new ArrayBuffer(100, { maxByteLength: 100 });
  const views = [new Uint8Array(buffer, 56, 5), new Float64Array(buffer, 56, 5), new DataView(buffer, 56, 5)];
  const empty = [new Uint8Array(buffer, 0, 0), new Uint16Array(0), new DataView(buffer, 0, 0), Buffer.alloc(0)];
  for (const view of [...views, ...empty]) {
    const packed = await compress(view, { format: "gzip" });
    assert.equal((await decompress(packed, { format: "gzip" })).length, view.byteLength);
  }
  buffer.resize(50);
  for (const view of views) {
    await assert.rejects(compress(view, { format: "gzip" }), TypeError);
    const { readable, writable } = new CompressionStream("gzip");
    const failing = assert.rejects(new Response(readable).bytes(), TypeError);
    await assert.rejects(writable.getWriter().write(view), TypeError);
    await failing;
  }
  for (const view of empty) await compress(view, { format: "gzip" });
});

test("the wrong dictionary is named, with both hashes", async () => {
  const wrong = sourceText(5000, 8);
  const [needed, given] = [await sha256(dictionary), await sha256(wrong)];
  for (const format of ["dcb", "dcz"] as const) {
    const small = await compress(bytes, { format, dictionary });
    await assert.rejects(decompress(small, { format, dictionary: wrong }), {
      name: "TypeError",
      message: `cannot decompress ${format}: wrong dictionary: the data needs the one with SHA-256 ${needed}, ` +
        `the one given has ${given}`,
    });
  }
});

test("a damaged dictionary of zstd is told as such, and not as memory that ran out", async () => {
  const damaged = concatenated([new Uint8Array([0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0]), noise(500)]); // magic number, id
  const options = { dictionary: damaged };
  const isTold = { name: "TypeError", message: /: the dictionary is damaged$/, fault: "dictionary" };
  await assert.rejects(compress(bytes, { format: "zstd", ...options }), isTold);
  await assert.rejects(collected(streamOf([bytes]).pipeThrough(new CompressionStream("zstd", options))), isTold);
  await assert.rejects(decompress(await compress(bytes, { format: "zstd" }), { format: "zstd", ...options }), isTold);
});

test("maxSize stops a bomb and lets through what fits exactly", async () => {
  for (const format of formats) {
    const bomb = await compress(new Uint8Array(5_000_000), { format, level: 5, ...withDictionary(format) });
    assert.ok(bomb.length < 10_000);
    const error = { name: "RangeError", message: /larger than maxSize, 4999999 bytes/ };
    const options = { maxSize: 4_999_999, ...withDictionary(format) };
    await assert.rejects(decompress(bomb, { format, ...options }), error);
    await assert.rejects(collected(streamOf([bomb]).pipeThrough(new DecompressionStream(format, options))), error);
    const exact = { ...options, maxSize: 5_000_000 };
    assert.equal((await decompress(bomb, { format, ...exact })).length, 5_000_000);
    const streamed = await collected(streamOf([bomb]).pipeThrough(new DecompressionStream(format, exact)));
    assert.equal(streamed.length, 5_000_000);
  }
  await assert.rejects(decompress(bytes, { format: "gzip", maxSize: -1 }), { name: "RangeError" });
  await assert.rejects(decompress(bytes, { format: "gzip", maxSize: NaN }), { name: "RangeError" });
});

test("a zstd header that claims a huge size is not believed", async () => {
  // Magic, single segment with 8-byte content size: 2^40 bytes, then one empty last block.
  const frame = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
  await assert.rejects(
    decompress(frame, { format: "zstd" }),
    (error) => error instanceof TypeError || error instanceof RangeError,
  );
});

test("CompressionStream() refuses another number of bytes than its size promised", async () => {
  for (const format of ["zstd", "brotli", "gzip"] as const) {
    for (const size of [999, 1001]) {
      const stream = streamOf([sourceText(1000)]).pipeThrough(new CompressionStream(format, { size }));
      await assert.rejects(collected(stream), {
        name: "RangeError",
        message: new RegExp(`its size was given as ${size}`),
      });
    }
  }
  assert.throws(() => new CompressionStream("zstd", { size: -1 }), { name: "RangeError" });
});

test("options that are missing, or are the format itself, are told in plain words", async () => {
  for (const run of [compress, decompress]) {
    for (const [options, told] of [[null, "null"], ["gzip", '"gzip"']]) {
      await assert.rejects(run(new Uint8Array(3), options as never), {
        name: "TypeError",
        message: `the options of ${run.name}() must be an object, not ${told}`,
      });
    }
    await assert.rejects(run(new Uint8Array(3), undefined as never), {
      name: "TypeError",
      message: /^unknown format "undefined": use one of zstd, brotli/,
    });
  }
});
