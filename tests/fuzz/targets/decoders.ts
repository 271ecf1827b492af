import assert from "node:assert/strict";
import { openDecoder } from "../../../lib/codecs/internal.ts";
import { compress, decompress, DecompressionStream, type Format, formats } from "../../../lib/codecs/mod.ts";
import { concatenated, sourceText } from "../../support/bytes.ts";
import { samples } from "../../codecs/samples.ts";
import { streamOf } from "../../support/streams.ts";
import { choices, cut, ending, type Target } from "../target.ts";
import { decompressNatively } from "./native_codecs.ts";

/** The limit of an input's decoded size, in bytes: some inputs are bombs. */
const MOST = 300_000;
const dictionary = sourceText(2000, 7);

/** The outcome of decoding: bytes, or an error. */
type Outcome = Uint8Array | Error;

async function outcomeOf(work: Promise<Uint8Array>): Promise<Outcome> {
  try {
    return await work;
  } catch (error) {
    assert.ok(error instanceof TypeError || error instanceof RangeError, `not an error of ours: ${error}`);
    assert.match(error.message, /^cannot decompress /);
    return error;
  }
}

function optionsOf(format: Format): { dictionary?: Uint8Array<ArrayBuffer>; maxSize: number } {
  return { maxSize: MOST, ...dictionaryOf(format) };
}

function dictionaryOf(format: Format): { dictionary?: Uint8Array<ArrayBuffer> } {
  return format === "dcb" || format === "dcz" ? { dictionary } : {};
}

async function streamed(pieces: Uint8Array<ArrayBuffer>[], format: Format): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const stream = streamOf(pieces).pipeThrough(new DecompressionStream(format, optionsOf(format)));
  for await (const part of stream) parts.push(part);
  const whole = concatenated(parts);
  assert.ok(whole.length <= MOST, "more came out than maxSize");
  return whole;
}

/** Decodes by the synchronous steps, into small buffers. */
async function stepped(pieces: readonly Uint8Array[], format: Format, size: number): Promise<Uint8Array> {
  const decoder = await openDecoder(format as "gzip");
  const target = new Uint8Array(size);
  const parts: Uint8Array[] = [];
  let length = 0;
  const take = (count: number): void => {
    length += count;
    if (length > MOST) throw new RangeError(`cannot decompress ${format}: the result is larger than maxSize`);
    parts.push(target.slice(0, count));
  };
  try {
    for (const piece of pieces) {
      decoder.write(piece);
      while (decoder.more) take(decoder.read(target));
    }
    do take(decoder.finish(target)); while (decoder.more);
    return concatenated(parts);
  } finally {
    decoder.close();
  }
}

function requireSame(one: Outcome, other: Outcome, what: string): void {
  if (one instanceof Error || other instanceof Error) {
    const [first, second] = [one, other].map((outcome) => outcome instanceof Error ? ending(outcome) : "bytes");
    // Input that is both too large and corrupt may fail for either reason, since pieces are read one after the other.
    // Also, zstd checks a frame's announced size in one call only, if the last block is empty.
    if (what.startsWith("zstd") && [first, second].some((text) => text.includes("Data corruption"))) return;
    const isEither = [first, second].some((text) => text.includes("maxSize")) && first !== "bytes" &&
      second !== "bytes";
    if (!isEither) assert.equal(first.split(":")[0], second.split(":")[0], `${what}: ${first} and ${second}`);
    return;
  }
  assert.ok(one.length === other.length && one.every((byte, i) => byte === other[i]), `${what}: other bytes`);
}

/** The first byte says which format the rest is in. */
export const decoders: Target = {
  name: "decoders",
  what: "compressed data of every format: whole, streamed, stepped and native decoding agree, and maxSize holds",
  maxSize: 3000,
  tokens: ["\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\x78\x9c", "\xff\xff", "\x00\x00\xff\xff", "\x50\x2a\x4d\x18"],

  async seeds(): Promise<Uint8Array[]> {
    const inputs = [
      new Uint8Array(0),
      samples["a sentence"],
      sourceText(1500),
      new Uint8Array(400_000), // a bomb
      samples["one byte"],
    ];
    const seeds: Uint8Array[] = [];
    for (const [index, format] of formats.entries()) {
      for (const level of [5, 9]) { // brotli uses dictionaries from 5 on
        for (const bytes of inputs) {
          const small = await compress(bytes, { format, level, ...dictionaryOf(format) });
          if (small.length < this.maxSize) seeds.push(concatenated([Uint8Array.of(index), small]));
        }
      }
    }
    return seeds;
  },

  async check(input): Promise<string> {
    const format = formats[(input[0] ?? 0) % formats.length];
    const data = Uint8Array.from(input.subarray(1));
    const random = choices(input);
    const family = format === "dcz" ? "zstd" : format;
    const whole = await outcomeOf(decompress(data, { format, ...optionsOf(format) }));
    requireSame(whole, await outcomeOf(streamed(cut(data, random), format)), `${family} whole and streamed`);
    if (format !== "dcb" && format !== "dcz") {
      const size = random.pick([7, 100, 4096, 65_536]);
      requireSame(whole, await outcomeOf(stepped(cut(data, random), format, size)), `${family} whole and stepped`);
      requireLikeNative(whole, format, data);
    }
    return `${format} ${whole instanceof Error ? ending(whole) : whole.length === 0 ? "nothing" : "bytes"}`;
  },
};

/** Requires the native decoder's output; input that only the native decoder accepts must be a known difference. */
function requireLikeNative(whole: Outcome, format: Format, data: Uint8Array): void {
  const native = decompressNatively(data, format, MOST);
  if (native === undefined) return;
  if (!(whole instanceof Error)) return requireSame(whole, native, "ours and native");
  // Native decoders ignore bytes after the end, or accept a file that ends with any frame. Also, zstd has two readers
  // of Huffman codes: the one for 64 bits (HUF_DISABLE_FAST_DECODE is off) accepts some corrupt data that the one in
  // WebAssembly refuses.
  const isStricter = /unexpected bytes|ends before|maxSize|maxWindow|memory/.test(whole.message) ||
    (format === "zstd" && whole.message.includes("Data corruption"));
  assert.ok(isStricter, `the native decoder takes what ours refuses: ${whole.message}`);
}
