import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import zlib from "node:zlib";
import fc from "fast-check";
import { type CodecFault, faultOf, openDecoder } from "../../lib/codecs/internal.ts";
import {
  compress,
  CompressionStream,
  decompress,
  DecompressionStream,
  decompressSync,
  type Format,
  ready,
} from "../../lib/codecs/mod.ts";
import { concatenated, noise, sourceText } from "../support/bytes.ts";
import { collected, streamOf } from "../support/streams.ts";

const formats = ["zstd", "brotli", "gzip", "deflate", "deflate-raw"] as const;
type Plain = (typeof formats)[number];

interface Outcome {
  readonly bytes: Uint8Array;
  readonly fault: CodecFault | undefined;
}

/** Reads all that a stream gives of `data`, cut at `cuts`. */
async function streamed(format: Plain, pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<Outcome> {
  const reader = streamOf(pieces).pipeThrough(new DecompressionStream(format)).getReader();
  const parts: Uint8Array[] = [];
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value);
  } catch (error) {
    return { bytes: Buffer.concat(parts), fault: faultOf(error) };
  }
  return { bytes: Buffer.concat(parts), fault: undefined };
}

/** Reads all that a decoder gives of `data`, `size` bytes at a time. */
async function stepped(format: Plain, pieces: readonly Uint8Array[], size: number): Promise<Outcome> {
  const decoder = await openDecoder(format);
  const target = new Uint8Array(size);
  const parts: Uint8Array[] = [];
  try {
    for (const piece of pieces) {
      decoder.write(piece);
      while (decoder.more) parts.push(target.slice(0, decoder.read(target)));
    }
    do parts.push(target.slice(0, decoder.finish(target))); while (decoder.more);
  } catch (error) {
    return { bytes: Buffer.concat(parts), fault: faultOf(error) };
  } finally {
    decoder.close();
  }
  return { bytes: Buffer.concat(parts), fault: undefined };
}

function cutAt(data: Uint8Array<ArrayBuffer>, cuts: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const ends = [...new Set(cuts.map((cut) => cut % data.length))].sort((a, b) => a - b).concat(data.length);
  return ends.map((end, i) => data.subarray(i === 0 ? 0 : ends[i - 1], end));
}

const text = sourceText(70_000);
const small = new Map(
  await Promise.all(formats.map(async (format) => {
    return [format, await compress(text, { format, level: 3 })] as const;
  })),
);

for (const format of formats) {
  test(`bytes behind the end of ${format} are one kind of fault, and come after all that the data holds`, async () => {
    // Gzip members and zstd frames may follow; the bytes that the test appends begin no magic number.
    const junk = fc.uint8Array({ minLength: 1, maxLength: 20 }).filter(([first]) => ![0x1f, 0x28].includes(first));
    await fc.assert(
      fc.asyncProperty(junk, fc.array(fc.nat(), { maxLength: 4 }), fc.integer({ min: 1, max: 80_000 }), async (
        junk,
        cuts,
        size,
      ) => {
        // Junk that begins with a skippable frame's number is valid zstd.
        fc.pre(format !== "zstd" || junk[0] < 0x50 || junk[0] > 0x5f);
        const data = concatenated([small.get(format)!, junk]);
        const pieces = cutAt(data, cuts.concat(small.get(format)!.length + (cuts[0] ?? 0) % 3));
        for (const outcome of [await streamed(format, pieces), await stepped(format, pieces, size)]) {
          assert.equal(outcome.fault, "trailing");
          assert.equal(Buffer.compare(outcome.bytes, text), 0, `${outcome.bytes.length} bytes`);
        }
        await assert.rejects(decompress(data, { format }), (error) => faultOf(error) === "trailing");
      }),
      { numRuns: 60 },
    );
  });

  test(`the kind of a fault of ${format} does not depend on how the data is cut, nor does what comes before it`, async () => {
    const data = small.get(format)!;
    const change = fc.record({
      at: fc.nat(data.length - 1),
      to: fc.nat(255),
      end: fc.integer({ min: 1, max: data.length }),
    });
    await fc.assert(
      fc.asyncProperty(change, fc.array(fc.nat(), { maxLength: 4 }), async ({ at, to, end }, cuts) => {
        const changed = data.slice(0, end);
        if (at < end) changed[at] = to;
        const whole = await streamed(format, [changed]);
        const cut = await streamed(format, cutAt(changed, cuts));
        assert.equal(cut.fault, whole.fault);
        await decompress(changed, { format }).then(
          (bytes) => assert.equal(Buffer.compare(bytes, whole.bytes), 0),
          (error) => assert.equal(faultOf(error), whole.fault),
        );
      }),
      // A header that names a dictionary and asks for a large window.
      { numRuns: 60, examples: [[{ at: 4, to: 5, end: 7 }, [3]], [{ at: 4, to: 1, end: 7 }, [5]]] },
    );
  });

  test(`what is truncated of ${format} gives what is there, and is told apart from corrupt data`, async () => {
    const data = small.get(format)!;
    const { bytes, fault } = await streamed(format, [data.slice(0, data.length - 20)]);
    assert.equal(fault, "truncated");
    assert.ok(Buffer.compare(bytes, text.subarray(0, bytes.length)) === 0);
  });
}

test("the first bytes of another member, with others behind them, are bytes behind the end", async () => {
  for (const [format, begin] of [["gzip", [0x1f]], ["zstd", [0x28, 0xb5]]] as const) {
    for (const rest of [[0], [0x1f, 0x28, 7, 7]]) {
      const junk = new Uint8Array([...begin, ...rest]);
      const data = small.get(format)!;
      for (const cuts of [[], [data.length + 1], [data.length]]) {
        const outcome = await streamed(format, cutAt(concatenated([data, junk]), cuts));
        assert.equal(outcome.fault, "trailing", `${format}, ${rest}`);
        assert.equal(outcome.bytes.length, text.length);
      }
    }
  }
});

/** The forms of deflate, each with headers, and with zlib's decoder. */
const deflates = {
  gzip: {
    headers: [0, 4, 8, 16, 2, 30].map((flags) => [31, 139, 8, flags, 0, 0, 0, 0, 0, 0]),
    inflate: zlib.gunzipSync,
  },
  deflate: { headers: [[0x78, 1], [0x78, 32], [0x78, 33], [0x88, 28], [0x79, 19]], inflate: zlib.inflateSync },
  "deflate-raw": { headers: [[]], inflate: zlib.inflateRawSync },
} as const;

/** Returns blocks of each type, the last of noise; the fewer bits of it are set, the fewer symbols a code has. */
function blocksOf(seed: number): Uint8Array<ArrayBuffer> {
  const bytes = noise(20 + seed % 50, seed);
  const isDynamic = seed % 4 > 0;
  if (isDynamic) bytes[0] = bytes[0] & 0xf8 | 4 | seed & 1;
  const mask = [0x00, 0x01, 0x24, 0x49, 0xff][seed % 5];
  for (let i = 2; isDynamic && i < 9; i++) bytes[i] &= mask | (i === 2 ? 1 : 0);
  return bytes;
}

/** Returns the kind of fault that a decoder finds; what follows the end, zlib leaves alone. */
function faultBy(decode: () => unknown, kindOf: (error: unknown) => string | undefined): string | undefined {
  try {
    decode();
    return undefined;
  } catch (error) {
    const kind = kindOf(error);
    return kind === "trailing" ? undefined : kind;
  }
}

for (const [name, { headers, inflate }] of Object.entries(deflates)) {
  test(`each beginning of ${name} is truncated or corrupt as zlib has it`, async () => {
    const format = name as keyof typeof deflates;
    await ready([format], "decompress");
    const kindOfZlib = (error: unknown): string =>
      (error as { code: string }).code === "Z_BUF_ERROR" ? "truncated" : "corrupt";
    for (let seed = 1; seed <= 150; seed++) {
      const data = concatenated([new Uint8Array(headers[seed % headers.length]), blocksOf(seed)]);
      let expected: string | undefined = "truncated";
      for (let end = 0; end <= data.length && expected !== "corrupt"; end++) {
        const cut = data.subarray(0, end);
        expected = faultBy(() => inflate(cut), kindOfZlib);
        const ours = faultBy(() => decompressSync(cut, { format }), faultOf);
        assert.equal(ours, expected, `${end} bytes of ${Buffer.from(data).toString("hex")}`);
      }
    }
  });
}

const windowed = async (windowLog: number, size?: number): Promise<Uint8Array<ArrayBuffer>> => {
  return await collected(
    streamOf([new Uint8Array(1 << 16)]).pipeThrough(new CompressionStream("zstd", { level: 1, windowLog, size })),
  );
};

test("zstd windows above 8 MiB are refused by all that decompresses, unless maxWindow allows them", async () => {
  const error = {
    name: "RangeError",
    message: "cannot decompress zstd: the data needs a larger window than maxWindow, 8388608 bytes",
  };
  for (const [log, isRefused] of [[23, false], [24, true], [27, true]] as const) {
    const data = await windowed(log);
    const runs = (maxWindow?: number) => [
      decompress(data, { format: "zstd", maxWindow }),
      collected(streamOf([data]).pipeThrough(new DecompressionStream("zstd", { maxWindow }))),
      collected(streamOf(cutAt(data, [3, 5, 9])).pipeThrough(new DecompressionStream("zstd", { maxWindow }))),
    ];
    for (const run of runs()) {
      if (isRefused) await assert.rejects(run, error);
      else assert.equal((await run).length, 1 << 16);
    }
    for (const run of runs(2 ** log)) assert.equal((await run).length, 1 << 16);
    for (const run of runs(2 ** log - 1)) await assert.rejects(run, { name: "RangeError", message: /maxWindow/ });
  }
});

test("a window that no memory is needed for is refused as well", async () => {
  // RFC 8878, section 3.1.1: a content of 3 bytes by its header, a window of 16 MiB, and one raw block, the last.
  const data = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x80, 14 << 3, 3, 0, 0, 0, 0x19, 0, 0, 1, 2, 3]);
  await assert.rejects(decompress(data, { format: "zstd" }), { name: "RangeError", message: /maxWindow, 8388608/ });
  assert.deepEqual(await decompress(data, { format: "zstd", maxWindow: 2 ** 24 }), new Uint8Array([1, 2, 3]));
});

test("a dcz window may have a quarter more than the dictionary, as RFC 9842 has it", async () => {
  const dictionary = noise(15_000_000);
  const page = concatenated([dictionary.subarray(0, 14_000_000), new Uint8Array(10)]);
  const options = { format: "dcz", dictionary } as const;
  const delta = await compress(page, { ...options, level: 1 });
  assert.equal((await decompress(delta, options)).length, page.length);
  await assert.rejects(decompress(delta, { ...options, maxWindow: 2 ** 23 }), { name: "RangeError" });
});

test("maxWindow applies to zstd and dcz alone, within their limits", () => {
  for (const format of ["brotli", "gzip", "deflate", "deflate-raw"] as const satisfies Format[]) {
    assert.throws(() => new DecompressionStream(format, { maxWindow: 2 ** 20 }), {
      name: "RangeError",
      message: `maxWindow does not apply to ${format}: use zstd or dcz`,
    });
  }
  for (const maxWindow of [0, 1023, 2 ** 27 + 1, Infinity, NaN]) {
    assert.throws(() => new DecompressionStream("zstd", { maxWindow }), { name: "RangeError" });
  }
});
