import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { JsonLinesEncoderStream } from "../../lib/text/mod.ts";
import { through } from "./chunkings.ts";

const textOf = async (values: readonly unknown[]): Promise<string> =>
  await new Blob(await through(values, new JsonLinesEncoderStream())).text();

test("JsonLinesEncoderStream writes each value as JSON.stringify() does, with a line feed", async () => {
  const values = [1, null, "a\nb", "é→😀\ud800", [1, [2]], { a: undefined, b: new Date(0) }, { toJSON: () => "own" }];
  assert.equal(await textOf(values), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  assert.equal(await textOf([]), "");
});

test("JsonLinesEncoderStream gives a chunk for what queued up, and a few if it is large", async () => {
  const encoder = new JsonLinesEncoderStream();
  const writer = encoder.writable.getWriter();
  const reader = encoder.readable.getReader();
  for (let i = 0; i < 100; i++) void writer.write({ i });
  const { value } = await reader.read();
  assert.equal(new TextDecoder().decode(value).split("\n").length, 101);
  const large = await through(Array(10).fill("x".repeat(50_000)), new JsonLinesEncoderStream());
  assert.ok(large.length >= 4, `${large.length} chunks`);
  assert.ok(large.every(({ length }) => length < 128 * 1024));
  await writer.close();
});

test("JsonLinesEncoderStream fails on a value that has no JSON, and tells which one", async () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const cases: readonly [unknown, string][] = [
    [undefined, "undefined"],
    [() => 1, "a function"],
    [Symbol("s"), "Symbol(s)"],
    [5n, "the bigint 5"],
    [cyclic, "an Array"],
  ];
  for (const [value, described] of cases) {
    const message = `the value at index 1 is ${described}, which cannot be written as JSON`;
    await assert.rejects(textOf([0, value, 2]), { name: "TypeError", message });
  }
});

test("JsonLinesEncoderStream has the error of toJSON() as the cause", async () => {
  const own = new RangeError("own");
  const toJSON = (): never => {
    throw own;
  };
  await assert.rejects(textOf([{ toJSON }]), (error: Error) => error.cause === own);
});

test("JsonLinesEncoderStream asks for no more values than may wait while nobody reads", async () => {
  let pulls = 0;
  const source = new ReadableStream({
    pull(controller): void {
      pulls++;
      controller.enqueue({ pulls });
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(new JsonLinesEncoderStream()).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(pulls <= 3 * 512 + 1, `${pulls} values`);
  await reader.cancel(new RangeError("enough"));
});
