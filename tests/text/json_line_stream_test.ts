import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import {
  type InvalidJsonLine,
  JsonLinesEncoderStream,
  JsonLineStream,
  type JsonLineStreamOptions,
} from "../../lib/text/mod.ts";
import { tries } from "../support/long_run.ts";
import { bytewise, cutAt, cutText, places, through, utf8 } from "./chunkings.ts";
import { invalid, valid } from "./json_cases.ts";

const values = (
  chunks: readonly (string | BufferSource)[],
  options?: JsonLineStreamOptions,
): Promise<unknown[]> => through(chunks, new JsonLineStream(options));

test("JsonLineStream gives the value of each line, however the text is cut", async () => {
  const text = valid.join("\n");
  const expected = valid.map((line) => JSON.parse(line));
  assert.deepEqual(await values([utf8(text)]), expected);
  assert.deepEqual(await values([text]), expected);
  assert.deepEqual(await values(bytewise(utf8(text))), expected);
  assert.deepEqual(await values(Array.from({ length: text.length }, (_, i) => text[i])), expected);
  assert.deepEqual(await values([`\ufeff${valid.join("\r\n\r\n \t\r\n")}\r\n`]), expected);
});

test("JsonLineStream refuses each line that is not JSON, and tells its line and text", async () => {
  for (const line of invalid) {
    const found: InvalidJsonLine[] = [];
    const text = `{"a":[{}\n1\n\n${line}\r\n2\n`; // other lines could end the first one
    const options = { onInvalid: (invalid: InvalidJsonLine) => void found.push(invalid) };
    assert.deepEqual(await values([text], options), [1, 2], line);
    assert.deepEqual(found.map(({ line, text }) => ({ line, text })), [
      { line: 1, text: '{"a":[{}' },
      { line: 4, text: line },
    ]);
    assert.ok(found[1].error instanceof SyntaxError);
    await assert.rejects(values([`1\n\n${line}`]), { name: "SyntaxError", message: /^line 3: ".*" is not JSON$/s });
  }
});

test("JsonLineStream reads no record that begins in one line and ends in another", async () => {
  const lines = ['{"a":[{}', "{}]}", "{},{}", "[1", "2]", "3,4", '"a', 'b"'];
  const found: string[] = [];
  assert.deepEqual(await values([lines.join("\n")], { onInvalid: ({ text }) => void found.push(text) }), []);
  assert.deepEqual(found, lines);
});

test("JsonLineStream gives the same values and tells of the same lines however text and bytes are cut and mixed", async () => {
  const line = fc.oneof(fc.constantFrom(...valid), fc.constantFrom(...invalid), fc.constantFrom("", " ", "\t \r"));
  const end = fc.constantFrom("\n", "\r\n");
  const lines = fc.array(fc.tuple(line, end), { maxLength: 12 });
  const far = fc.array(fc.nat(2000), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lines, far, far, async (lines, byteCuts, textCuts) => {
      const text = lines.flat().join("");
      const expected: unknown[] = [];
      lines.forEach(([line], index) => {
        if (/^[ \t\r]*$/.test(line)) return;
        expected.push(invalid.includes(line) ? { line: index + 1, text: line } : JSON.parse(line));
      });
      const onInvalid = ({ line, text }: InvalidJsonLine): unknown => ({ line, text });
      const mixed = cutText(text, textCuts).map((part, index) =>
        index % 2 === 1 && part.isWellFormed() ? utf8(part) : part
      );
      for (const chunks of [cutAt(utf8(text), byteCuts), cutText(text, textCuts), mixed]) {
        assert.deepEqual(await values(chunks, { onInvalid }), expected);
      }
    }),
    { numRuns: tries(300) },
  );
});

test("JsonLineStream fails on the first line that is not JSON, with its number, its text and the cause", async () => {
  const stream = new JsonLineStream();
  const reader = stream.readable.getReader();
  const reads = [reader.read(), reader.read()];
  const failure = { name: "SyntaxError", message: 'line 4: "{\\"id\\":" is not JSON' };
  await assert.rejects(stream.writable.getWriter().write('{"id":1}\n\n2\n{"id":\n5\n'), failure);
  assert.deepEqual((await Promise.all(reads)).map(({ value }) => value), [{ id: 1 }, 2]);
  const error = await reader.read().catch((error) => error);
  assert.ok(error.cause instanceof SyntaxError);
  await assert.rejects(values([`"${"x".repeat(100)}`]), { message: `line 1: "\\"${"x".repeat(39)}…" is not JSON` });
});

test("JsonLineStream leaves invalid lines out, or puts other values in their place", async () => {
  const text = "1\nx\nnull\ny";
  assert.deepEqual(await values([text], { onInvalid: "skip" }), [1, null]);
  assert.deepEqual(await values([text], { onInvalid: ({ text }) => text === "x" ? null : text }), [1, null, null, "y"]);
  await assert.rejects(values([text], { onInvalid: "throw" }), { message: 'line 2: "x" is not JSON' });
  const own = new RangeError("own");
  const onInvalid = (): never => {
    throw own;
  };
  await assert.rejects(values([text], { onInvalid }), (error) => error === own);
});

test("JsonLineStream refuses lines that are too long, as bytes and as text", async () => {
  const failure = { name: "RangeError", message: "line 2 is longer than 8 bytes: raise maxLineLength if it may be" };
  for (const text of ['1\n"012345678"\n', '1\n"01234567', '1\n"→→→"\n', '1\n"→→→']) {
    await assert.rejects(values([utf8(text)], { maxLineLength: 8 }), failure);
    await assert.rejects(values([text], { maxLineLength: 8 }), failure);
  }
  assert.deepEqual(await values(['"012345"\r\n"→→"\n"012345"'], { maxLineLength: 8 }), ["012345", "→→", "012345"]);
});

test("JsonLineStream reads no more chunks than its reader asks for", async () => {
  let pulls = 0;
  const chunk = utf8('{"id":1}\n'.repeat(1000));
  const source = new ReadableStream({
    pull(controller): void {
      pulls++;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(new JsonLineStream()).getReader();
  for (let i = 0; i < 1500; i++) assert.deepEqual((await reader.read()).value, { id: 1 });
  assert.ok(pulls <= 3, `${pulls} chunks`);
  await reader.cancel();
});

test("JsonLineStream fails on a chunk that is neither text nor bytes, and says what it got", async () => {
  await assert.rejects(values([12 as never]), {
    name: "TypeError",
    message: "a chunk must be a string, a Uint8Array or another BufferSource, not 12",
  });
});

test("random records go through JsonLinesEncoderStream and JsonLineStream unchanged, cut at random bytes", async () => {
  const records = fc.array(fc.jsonValue(), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(records, places, async (records, places) => {
      const chunks = await through(records, new JsonLinesEncoderStream());
      const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
      assert.equal(await new Blob(chunks).text(), text);
      const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
      assert.deepEqual(await values(cutAt(bytes, places)), records.map((record) => JSON.parse(JSON.stringify(record))));
    }),
    { numRuns: tries(300) },
  );
});
