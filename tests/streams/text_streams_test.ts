import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { TextDecoderStream } from "../../lib/streams/encoding/text_decoder_stream.ts";
import { TextEncoderStream } from "../../lib/streams/encoding/text_encoder_stream.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";

/** Texts with characters of one to four bytes, and halves of surrogate pairs. */
const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\ud83d", "\ude00", "") }), {
  maxLength: 8,
});

async function encoded(chunks: readonly unknown[]): Promise<Uint8Array[]> {
  return await Array.fromAsync(ReadableStream.from(chunks as string[]).pipeThrough(new TextEncoderStream()));
}

async function decoded(chunks: readonly unknown[], ...options: [label?: string, TextDecoderOptions?]): Promise<string> {
  const stream = ReadableStream.from(chunks as BufferSource[]).pipeThrough(new TextDecoderStream(...options));
  return (await Array.fromAsync(stream)).join("");
}

test("TextEncoderStream gives the bytes of the whole text, wherever it is cut, and no empty chunk", async () => {
  await fc.assert(fc.asyncProperty(texts, async (chunks) => {
    const bytes = await encoded(chunks);
    assert.ok(bytes.every(({ length }) => length > 0));
    assert.deepEqual(Buffer.concat(bytes), Buffer.from(new TextEncoder().encode(chunks.join(""))));
  }));
});

test("TextDecoderStream gives the text of all bytes, wherever they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 5 }), async (text, size) => {
      const bytes = new TextEncoder().encode(text);
      const chunks = Array.from(
        { length: Math.ceil(bytes.length / size) },
        (_, i) => bytes.subarray(i * size, (i + 1) * size),
      );
      assert.equal(await decoded(chunks, "utf-8", { ignoreBOM: true }), text);
    }),
  );
});

test("TextEncoderStream takes anything for text, as the Encoding Standard has it, but symbols", async () => {
  const bytes = await encoded([1, null, undefined, { toString: () => "text" }]);
  assert.equal(Buffer.concat(bytes).toString(), "1nullundefinedtext");
  await assert.rejects(encoded([Symbol("text")]), TypeError);
});

test("TextDecoderStream takes memory that threads share, whole or a view of it", async () => {
  const shared = new SharedArrayBuffer(6);
  new Uint8Array(shared).set(new TextEncoder().encode("shared"));
  assert.equal(await decoded([shared, new Uint8Array(shared, 1, 2), new DataView(shared, 4)]), "sharedhaed");
  new Uint8Array(shared)[1] = 0xff; // not UTF-8, before and after what is
  await assert.rejects(decoded([shared], "utf-8", { fatal: true }), TypeError);
});

test("TextDecoderStream refuses what is not bytes", async () => {
  for (const chunk of [undefined, null, 1, "text", {}, []]) await assert.rejects(decoded([chunk]), TypeError);
  // Not left to decode(): WebKit's takes null, too.
  for (const chunk of [undefined, null]) await assert.rejects(decoded([chunk]), /^TypeError: a chunk must be/);
});

test("TextDecoderStream has the options of TextDecoder", async () => {
  const { encoding, fatal, ignoreBOM } = new TextDecoderStream("latin1", { fatal: true, ignoreBOM: true });
  assert.deepEqual([encoding, fatal, ignoreBOM], ["windows-1252", true, true]);
  assert.equal(await decoded([Uint8Array.of(0xe4)], "latin1"), "ä");
  await assert.rejects(decoded([Uint8Array.of(0xe4)], "utf-8", { fatal: true }), TypeError);
  assert.throws(() => new TextDecoderStream("no-encoding"), RangeError);
});

test("members of text streams are for their own objects alone", () => {
  for (const { prototype } of [TextEncoderStream, TextDecoderStream]) {
    for (const name of ["encoding", "readable", "writable"]) {
      assert.throws(() => Reflect.get(prototype, name, {}), TypeError);
    }
  }
});
