import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { LineStream, type LineStreamOptions } from "../../lib/text/mod.ts";
import { bytewise, cutAt, cutText, places, through, utf8 } from "./chunkings.ts";
import { tries } from "../support/long_run.ts";

/** Returns the lines of a text, by the simplest means. */
function linesOf(text: string, { allowCR = false }: LineStreamOptions): string[] {
  const lines = text.split(allowCR ? /\r\n|\n|\r/ : /\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const lines = (chunks: readonly (string | BufferSource)[], options?: LineStreamOptions): Promise<string[]> =>
  through(chunks, new LineStream(options));

const text = fc.array(fc.constantFrom("\n", "\r", "\r\n", "a", "line", "é", "→", "😀", "\ufeff", "\0"), {
  maxLength: 30,
})
  .map((parts) => parts.join(""));
const options = fc.record({ allowCR: fc.boolean() });

test("LineStream gives the same lines however the bytes are cut", async () => {
  await fc.assert(
    fc.asyncProperty(text, places, options, async (text, places, options) => {
      const expected = linesOf(text.replace(/^\ufeff/, ""), options);
      assert.deepEqual(await lines(cutAt(utf8(text), places), options), expected);
      assert.deepEqual(await lines(bytewise(utf8(text)), options), expected);
    }),
    { numRuns: tries(500) },
  );
});

test("LineStream decodes any bytes as a TextDecoder does, however they are cut", async () => {
  // Bytes that start and continue characters of each length, surrogates and overlong forms, and line ends among them.
  const byte = fc.constantFrom(
    0x0a,
    0x0d,
    0x41,
    0x80,
    0xbf,
    0xc2,
    0xe0,
    0xed,
    0xa0,
    0xef,
    0xbb,
    0xf0,
    0x9f,
    0xf4,
    0xff,
  );
  const bytes = fc.array(byte, { maxLength: 30 }).map((bytes) => Uint8Array.from(bytes));
  await fc.assert(
    fc.asyncProperty(bytes, places, options, async (bytes, places, options) => {
      const expected = linesOf(new TextDecoder().decode(bytes), options);
      assert.deepEqual(await lines(cutAt(bytes, places), options), expected);
    }),
    { numRuns: tries(1000) },
  );
});

test("LineStream gives lines that are longer than many chunks, and short ones after them", async () => {
  const long = "0123456789".repeat(50_000);
  const bytes = utf8(`a\r\n${long}\nb\n${long}`);
  const places = Array.from({ length: bytes.length / 1000 }, (_, index) => index * 1000);
  assert.deepEqual(await lines(cutAt(bytes, places)), ["a", long, "b", long]);
});

test("LineStream ends lines at LF and CRLF, at a lone CR only if told", async () => {
  const bytes = utf8("one\ntwo\r\nthree\rfour\r\r\nfive\r");
  assert.deepEqual(await lines([bytes]), ["one", "two", "three\rfour\r", "five\r"]);
  assert.deepEqual(await lines([bytes], { allowCR: true }), ["one", "two", "three", "four", "", "five"]);
});

test("LineStream gives empty lines, but none behind the last end", async () => {
  assert.deepEqual(await lines([utf8("\n\r\na\n\n")]), ["", "", "a", ""]);
  assert.deepEqual(await lines([utf8("\r")], { allowCR: true }), [""]);
  assert.deepEqual(await lines([utf8("")]), []);
  assert.deepEqual(await lines([]), []);
});

test("LineStream drops a byte order mark at the start, and there only", async () => {
  assert.deepEqual(await lines(bytewise(utf8("\ufeffa\n\ufeffb"))), ["a", "\ufeffb"]);
  assert.deepEqual(await lines([utf8("\ufeff\ufeff")]), ["\ufeff"]);
  assert.deepEqual(await lines([utf8("\ufeff")]), []);
});

test("LineStream gives a line as soon as its end is known", async () => {
  const stream = new LineStream({ allowCR: true });
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  const next = async (): Promise<string | undefined> => (await reader.read()).value;
  const written = writer.write(utf8("a\nb\rc"));
  assert.equal(await next(), "a");
  assert.equal(await next(), "b");
  void writer.write(utf8("\r"));
  void writer.write(utf8("d"));
  assert.equal(await next(), "c");
  await writer.close();
  assert.equal(await next(), "d");
  await written;
});

test("LineStream keeps no chunk: it may be overwritten once it was taken", async () => {
  const stream = new LineStream();
  const all = Array.fromAsync(stream.readable);
  const writer = stream.writable.getWriter();
  const chunk = Buffer.from("ab"); // its slice() would be no copy
  await writer.write(chunk);
  chunk.fill(120);
  await writer.write(utf8("c\n"));
  await writer.close();
  assert.deepEqual(await all, ["abc"]);
});

test("LineStream takes every kind of buffer and view", async () => {
  const bytes = utf8("--a\nb\nc--");
  const chunks = [new DataView(bytes.buffer, 2, 2), new Int8Array(bytes.buffer, 4, 2), utf8("c\n").buffer];
  assert.deepEqual(await lines(chunks), ["a", "b", "c"]);
});

type Limited = Required<Pick<LineStreamOptions, "allowCR" | "maxLineLength">>;

/** Returns the lines of bytes, or the error of the first one that is too long. */
function limitedLinesOf(bytes: Uint8Array, { allowCR, maxLineLength }: Limited): string[] | string {
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const tooLong = linesOf(latin1, { allowCR }).findIndex((line) => line.length > maxLineLength);
  if (tooLong === -1) return linesOf(new TextDecoder().decode(bytes), { allowCR });
  return `RangeError: line ${tooLong + 1} is longer than ${maxLineLength} bytes: raise maxLineLength if it may be`;
}

test("LineStream takes lines of maxLineLength bytes and no more, however they are cut", async () => {
  const limited = fc.record({ allowCR: fc.boolean(), maxLineLength: fc.nat(12) });
  const end = fc.constantFrom("\n", "\r", "\r\n", "\n\r");
  const line = fc.string({ unit: fc.constantFrom("a", "b", "é", "→", "😀"), maxLength: 12 });
  const text = fc.array(fc.tuple(line, end).map((parts) => parts.join("")), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.tuple(text, line), places, limited, async ([ended, last], places, options) => {
      const bytes = utf8(ended.join("") + last);
      const expected = limitedLinesOf(bytes, options);
      for (const chunks of [[bytes], cutAt(bytes, places), bytewise(bytes)]) {
        assert.deepEqual(await lines(chunks, options).catch(String), expected);
      }
    }),
    { numRuns: tries(2000) },
  );
});

test("LineStream gives waiting readers the lines before one that is too long, then the error", async () => {
  const stream = new LineStream({ maxLineLength: 2 });
  const reader = stream.readable.getReader();
  const reads = [reader.read(), reader.read()];
  const failure = {
    name: "RangeError",
    message: "line 3 is longer than 2 bytes: raise maxLineLength if it may be",
  };
  await assert.rejects(stream.writable.getWriter().write(utf8("a\nbc\ndef\ng\n")), failure);
  assert.deepEqual(await Promise.all(reads), [{ done: false, value: "a" }, { done: false, value: "bc" }]);
  await assert.rejects(reader.read(), failure);
});

test("LineStream fails on a line that does not end as soon as it is too long", async () => {
  let chunks = 0;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller): void {
      chunks++;
      controller.enqueue(utf8("0123456789"));
    },
  });
  const endless = Array.fromAsync(source.pipeThrough(new LineStream({ maxLineLength: 1000 })));
  await assert.rejects(endless, { message: "line 1 is longer than 1000 bytes: raise maxLineLength if it may be" });
  assert.ok(chunks < 110, `${chunks} chunks`);
});

test("LineStream cuts a chunk that is decoded in several pieces as any other", async () => {
  const short = "mill\r\nrace\rwheel\n→\r\n";
  const long = "0123456789".repeat(2_000_000); // longer than a piece
  const text = `${short.repeat(50_000)}${long}\n${long}\r${short}${long}\n${short.repeat(2)}end`;
  for (const allowCR of [false, true]) {
    const found = await lines([utf8(text)], { allowCR });
    const expected = linesOf(text, { allowCR });
    assert.equal(found.length, expected.length);
    assert.equal(found.findIndex((line, index) => line !== expected[index]), -1);
  }
});

test("LineStream gives the same lines of text as of its bytes, however both are cut and mixed", async () => {
  const half = fc.constantFrom("\n", "\r", "\r\n", "a", "line", "é", "→", "😀", "\ufeff", "\ud83d", "\ude00");
  const text = fc.array(half, { maxLength: 30 }).map((parts) => parts.join(""));
  const limited = fc.record({ allowCR: fc.boolean(), maxLineLength: fc.oneof(fc.nat(12), fc.constant(1e6)) });
  await fc.assert(
    fc.asyncProperty(text, places, limited, async (text, places, options) => {
      const expected = limitedLinesOf(utf8(text), options);
      const cut = cutText(text, places);
      assert.deepEqual(await lines(cut, options).catch(String), expected);
      const mixed = cut.map((part, index) => index % 2 === 1 ? utf8(part) : part);
      // Encoded for itself, half a character is none.
      if (utf8(cut.join("|")).length !== utf8(text).length + cut.length - 1) return;
      assert.deepEqual(await lines(mixed, options).catch(String), expected);
    }),
    { numRuns: tries(2000) },
  );
});

test("LineStream takes long lines of text in small pieces", async () => {
  const long = "mill race ".repeat(5000);
  const text = `a\r\n${long}→\nb\n${long}`;
  const places = Array.from({ length: text.length / 7 }, (_, index) => index * 7);
  assert.deepEqual(await lines(cutText(text, places)), ["a", `${long}→`, "b", long]);
});

test("LineStream drops a byte order mark at the start of text, and there only", async () => {
  assert.deepEqual(await lines(["\ufeff", "a\n\ufeffb"]), ["a", "\ufeffb"]);
  assert.deepEqual(await lines(["", "\ufeffa"]), ["a"]);
  assert.deepEqual(await lines(["\ufeff"]), []);
});

test("LineStream fails on a chunk that is neither text nor bytes, and says what it got", async () => {
  const message = /^a chunk must be a string, a Uint8Array or another BufferSource, not 12$/;
  await assert.rejects(lines([utf8("a\n"), 12 as never]), { name: "TypeError", message });
  await assert.rejects(lines([null as never]), { name: "TypeError", message: /BufferSource, not null$/ });
});

test("LineStream cancels its source when its reader cancels", async () => {
  const stream = new LineStream();
  const writer = stream.writable.getWriter();
  await stream.readable.cancel(new RangeError("enough"));
  await assert.rejects(writer.write(utf8("a")), { name: "RangeError", message: "enough" });
});
