import assert from "node:assert/strict";
import test from "node:test";
import { compress, type Format } from "../../lib/codecs/mod.ts";
import { contentCodings, type UndoableCoding } from "../../lib/semantics/content_coding.ts";
import { ContentDecoder } from "../../lib/semantics/content_decoder.ts";

const text = new TextEncoder().encode("round and round ".repeat(500));
const formats: readonly (readonly [UndoableCoding, Format])[] = [
  ["gzip", "gzip"],
  ["deflate", "deflate"],
  ["deflate", "deflate-raw"],
  ["br", "brotli"],
  ["zstd", "zstd"],
];

/** Returns the decoded bytes, by a target of `size` bytes. */
async function decoded(coding: UndoableCoding, pieces: readonly Uint8Array[], size: number): Promise<ContentDecoder> {
  const decoder = await ContentDecoder.open(coding, pieces[0]?.[0]);
  const target = new Uint8Array(size);
  const waiting = [...pieces];
  let at = 0;
  while (!decoder.isDone) {
    if (decoder.needsInput) {
      const piece = waiting.shift();
      if (piece === undefined) decoder.end();
      else decoder.write(piece);
    }
    const length = decoder.read(target);
    assert.deepEqual(target.subarray(0, length), text.subarray(at, at + length));
    at += length;
  }
  assert.equal(at, text.length);
  return decoder;
}

for (const [coding, format] of formats) {
  test(`a stepper undoes ${coding} of ${format}, however input and output are cut`, async () => {
    const bytes = await compress(text, { format });
    const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    for (const size of [1, 1000, 100_000]) {
      for (const pieces of [[bytes], single, [bytes.subarray(0, 5), bytes.subarray(5)]]) {
        assert.equal((await decoded(coding, pieces, size)).trailing, undefined);
      }
    }
  });

  test(`a stepper of ${coding} of ${format} is done where bytes follow, and refuses data that ends too early`, async () => {
    const bytes = await compress(text, { format });
    const followed = await decoded(coding, [bytes, new Uint8Array([1, 2, 3])], 1000);
    assert.match(followed.trailing!.message, /after the end/);
    const decoder = await ContentDecoder.open(coding, bytes[0]);
    decoder.write(bytes.subarray(0, -1));
    decoder.end();
    assert.throws(() => {
      while (!decoder.isDone) decoder.read(new Uint8Array(100));
    }, TypeError);
    assert.equal(decoder.isDone, false);
    decoder.close();
  });
}

test("the codings of a field stand in the order in which they were applied", () => {
  assert.deepEqual(contentCodings("gzip"), ["gzip"]);
  assert.deepEqual(contentCodings("X-GZIP,, identity ,\tBr "), ["gzip", "br"]);
  assert.deepEqual(contentCodings(""), []);
  assert.deepEqual(contentCodings("zstd, DCB, compress"), ["zstd", { unknown: "dcb" }, { unknown: "compress" }]);
});
