import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import {
  type InvalidJsonText,
  JsonSequenceDecoderStream,
  type JsonSequenceDecoderStreamOptions,
  JsonSequenceEncoderStream,
} from "../../lib/text/mod.ts";
import { tries } from "../support/long_run.ts";
import { bytewise, cutAt, cutText, through, utf8 } from "./chunkings.ts";
import { invalid, valid } from "./json_cases.ts";

const values = (
  chunks: readonly (string | BufferSource)[],
  options?: JsonSequenceDecoderStreamOptions,
): Promise<unknown[]> => through(chunks, new JsonSequenceDecoderStream(options));

/** Returns the values; a rejected text is replaced by its index, the text and the message of this package's error. */
async function toldOf(chunks: readonly (string | BufferSource)[]): Promise<unknown[]> {
  const onInvalid = ({ index, text, error }: InvalidJsonText): unknown => {
    assert.ok(error instanceof SyntaxError);
    return [index, text, /cut off|no record/.exec(error.message)?.[0]];
  };
  return await values(chunks, { onInvalid });
}

test("JsonSequenceDecoderStream gives the value of each text, however the sequence is cut", async () => {
  const texts = [...valid.filter(({ length }) => length < 1000), '{\n  "pretty": [\n    1\n  ]\n}'];
  const text = texts.map((text) => `\x1e${text}\n`).join("");
  const expected = texts.map((text) => JSON.parse(text));
  assert.deepEqual(await values([utf8(text)]), expected);
  assert.deepEqual(await values([text]), expected);
  assert.deepEqual(await values(bytewise(utf8(text))), expected);
  assert.deepEqual(await values(Array.from({ length: text.length }, (_, i) => text[i])), expected);
  assert.deepEqual(await values([`\ufeff \x1e\x1e${texts.join("\r\n\x1e\x1e \n\x1e")}\n`]), expected);
});

test("JsonSequenceDecoderStream tells of each text that is not JSON, and goes on with the next one", async () => {
  for (const text of invalid.filter((text) => !text.includes("\x1e"))) {
    const expected = [{ a: 1 }, [1, `${text}\n`, undefined], 2];
    assert.deepEqual(await toldOf([`\x1e{"a":1}\n\x1e${text}\n\x1e2\n`]), expected, text);
    await assert.rejects(values([`\x1e${text}`]), {
      name: "SyntaxError",
      message: /^the JSON text at index 0: ".*" is no text of a JSON text sequence$/s,
    });
  }
});

test("JsonSequenceDecoderStream tells of texts that may have been cut off, as RFC 7464 has it", async () => {
  for (const text of ["1", "-1.5e3", "true", "false", "null"]) {
    assert.deepEqual(await toldOf([`\x1e${text}\x1e${text}\n\x1e${text}\t\x1e${text}`]), [
      [0, text, "cut off"],
      JSON.parse(text),
      JSON.parse(text),
      [3, text, "cut off"],
    ]);
  }
  // These tell where they end.
  assert.deepEqual(await toldOf(['\x1e"a"\x1e[1]\x1e{"b":2}\x1e""']), ["a", [1], { b: 2 }, ""]);
  assert.deepEqual(await toldOf(['\x1e"a\x1e[1\x1e{"b":2\x1e3\n']), [
    [0, '"a', undefined],
    [1, "[1", undefined],
    [2, '{"b":2', undefined],
    3,
  ]);
});

test("JsonSequenceDecoderStream tells of text without a separator before it", async () => {
  assert.deepEqual(await toldOf(["23\n\x1e4\n"]), [[0, "23\n", "no record"], 4]);
  assert.deepEqual(await toldOf(["\x1e1\n", "2\n", "\x1e3\n"]), [1, [1, "2\n", "no record"], 3]);
  assert.deepEqual(await values(["[1]\n[2]\n"], { onInvalid: "skip" }), []);
});

test("JsonSequenceDecoderStream gives a text when its line feed has come, without the next one", async () => {
  const { readable, writable } = new JsonSequenceDecoderStream();
  const writer = writable.getWriter();
  const reader = readable.getReader();
  for (const [chunks, value] of [[["\x1e1\n"], 1], [["\x1e[2,\n", "3]\n"], [2, 3]], [["\x1e4", "\n"], 4]] as const) {
    const writes = chunks.map((chunk) => writer.write(chunk));
    assert.deepEqual((await reader.read()).value, value);
    await Promise.all(writes);
  }
  const closed = writer.close();
  assert.equal((await reader.read()).done, true);
  await closed;
});

test("JsonSequenceDecoderStream reads a long text that comes line by line in a time that grows with its length", async () => {
  const numbers = Array.from({ length: 20_000 }, (_, index) => index);
  const lines = numbers.map((number) => `${number}\n,\n`);
  const parse = JSON.parse;
  let parsed = 0;
  JSON.parse = (text: string): unknown => {
    parsed += text.length;
    return parse(text);
  };
  try {
    assert.deepEqual(await values(["\x1e[\n", ...lines.join("").split(/(?<=\n)/), "0]\n"]), [[...numbers, 0]]);
  } finally {
    JSON.parse = parse;
  }
  assert.ok(parsed < 8 * lines.join("").length, `${parsed} characters`);
});

test("JsonSequenceDecoderStream refuses texts that are too long, as bytes and as text", async () => {
  const message = "the JSON text at index 1 is longer than 8 bytes: raise maxTextLength if it may be";
  for (const text of ['\x1e1\n\x1e"0123456"\n\x1e', '\x1e1\n\x1e"01234567', '\x1e1\n\x1e"→→→"\n', '\x1e1\n\x1e"→→→']) {
    for (const chunk of [utf8(text), text]) {
      await assert.rejects(values([chunk], { maxTextLength: 8 }), { name: "RangeError", message });
    }
  }
  assert.deepEqual(await values(['\x1e"01234"\n\x1e"→→"\x1e"012345"'], { maxTextLength: 8 }), [
    "01234",
    "→→",
    "012345",
  ]);
});

test("JsonSequenceDecoderStream refuses chunks that are no text", async () => {
  await assert.rejects(values([12 as never]), { name: "TypeError" });
});

test("JsonSequenceEncoderStream leaves out or replaces values that have no JSON", async () => {
  const text = async (onInvalid: "skip" | (() => unknown)): Promise<string> =>
    await new Blob(await through([1, 2n, [3]], new JsonSequenceEncoderStream({ onInvalid }))).text();
  assert.equal(await text("skip"), "\x1e1\n\x1e[3]\n");
  assert.equal(await text(() => null), "\x1e1\n\x1enull\n\x1e[3]\n");
  await assert.rejects(through([1n], new JsonSequenceEncoderStream()), { name: "TypeError" });
});

test("random values go through JsonSequenceEncoderStream and JsonSequenceDecoderStream unchanged, cut anywhere", async () => {
  const records = fc.array(fc.jsonValue(), { maxLength: 40 });
  const far = fc.array(fc.nat(2000), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(records, far, async (records, places) => {
      const chunks = await through(records, new JsonSequenceEncoderStream());
      const text = records.map((record) => `\x1e${JSON.stringify(record)}\n`).join("");
      assert.equal(await new Blob(chunks).text(), text);
      const expected = records.map((record) => JSON.parse(JSON.stringify(record)));
      assert.deepEqual(await values(cutAt(utf8(text), places)), expected);
      assert.deepEqual(await values(cutText(text, places)), expected);
    }),
    { numRuns: tries(100) },
  );
});

test("JsonSequenceDecoderStream reads no more chunks than its reader asks for", async () => {
  let pulls = 0;
  const source = new ReadableStream({
    pull(controller): void {
      pulls++;
      controller.enqueue('\x1e{"id":1}\n'.repeat(1000));
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(new JsonSequenceDecoderStream()).getReader();
  for (let i = 0; i < 1500; i++) assert.deepEqual((await reader.read()).value, { id: 1 });
  assert.ok(pulls <= 3, `${pulls} chunks`);
  await reader.cancel();
});
