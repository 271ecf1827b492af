import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import test from "node:test";
import { coalesceBytes } from "../../../lib/batch/mod.ts";
import { CompressionStream, DecompressionStream } from "../../../lib/codecs/mod.ts";
import { TextDecoderStream } from "../../../lib/streams/encoding/text_decoder_stream.ts";
import { TextEncoderStream } from "../../../lib/streams/encoding/text_encoder_stream.ts";
import { fromNative, toNative, TransformStream } from "../../../lib/streams/mod.ts";
import * as text from "../../../lib/text/mod.ts";

type Pair = { readable: ReadableStream; writable: WritableStream };

const bytes = new TextEncoder().encode("1\n2\n");

/** Every transform of this package, with a chunk for it. */
const pairs: Readonly<Record<string, readonly [make: () => object, chunk: unknown]>> = {
  TransformStream: [() => new TransformStream(), "a"],
  TextDecoderStream: [() => new TextDecoderStream(), bytes],
  TextEncoderStream: [() => new TextEncoderStream(), "a"],
  CompressionStream: [() => new CompressionStream("gzip"), bytes],
  DecompressionStream: [
    () => new DecompressionStream("gzip"),
    gzipSync(bytes),
  ],
  LineStream: [() => new text.LineStream(), bytes],
  LineToNumberStream: [() => new text.LineToNumberStream(), bytes],
  NumberToLineStream: [() => new text.NumberToLineStream(), 1],
  JsonLineStream: [() => new text.JsonLineStream(), bytes],
  JsonLinesEncoderStream: [() => new text.JsonLinesEncoderStream(), { a: 1 }],
  CsvDecoderStream: [() => new text.CsvDecoderStream(), bytes],
  CsvEncoderStream: [() => new text.CsvEncoderStream(), { a: 1 }],
};

/** Pairs that functions make, which are of no class. */
const made: typeof pairs = {
  "pair of coalesceBytes()": [() => coalesceBytes(), bytes],
  "pair of fromNative()": [() => fromNative(new globalThis.TransformStream()), bytes],
  "pair of toNative()": [() => toNative(new TransformStream()), bytes],
};

for (const [name, [make, chunk]] of Object.entries({ ...pairs, ...made })) {
  test(`pipeline() of node:stream takes a ${name} between two streams of its own`, { timeout: 60_000 }, async () => {
    const out = new PassThrough({ objectMode: true });
    const chunks = out.toArray();
    const pair = make();
    await pipeline(Readable.from([chunk]), pair as never, out);
    assert.notEqual((await chunks).length, 0);
    assert.equal(Object.getPrototypeOf(pair).constructor.name, name in made ? "Object" : name);
  });
}

for (const [name, [make]] of Object.entries(pairs)) {
  test(`a class that extends ${name} has its fields`, () => {
    class Derived extends (make().constructor as new (...args: unknown[]) => Pair) {
      readonly mine = 1;
      readonly #secret = 2;
      get secret(): number {
        return this.#secret;
      }
    }
    const args = { CompressionStream: ["gzip"], DecompressionStream: ["gzip"] };
    const pair = new Derived(...(args as Record<string, unknown[]>)[name] ?? []);
    assert.deepEqual([pair.mine, pair.secret, pair.readable.locked, pair.writable.locked], [1, 2, false, false]);
    assert.ok(pair instanceof Derived);
  });
}
