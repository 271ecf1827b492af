import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream } from "../../lib/streams/mod.ts";

test("a view of an iterable that is a thenable is resolved, as any other thenable", async () => {
  let lookups = 0;
  const view = Object.defineProperty(new Uint8Array(3), "then", {
    get: () => {
      lookups++;
      return (resolve: (value: unknown) => void) => resolve("what it was waiting for");
    },
  });
  const found: unknown[] = [];
  for await (const chunk of ReadableStream.from([view, "next"] as unknown[])) found.push(chunk);
  assert.deepEqual(found, ["what it was waiting for", "next"]);
  assert.equal(lookups, 1);
});

test("bytes beyond the last whole element of a view are kept for the next read, wherever the view begins", async () => {
  for (const byteOffset of [0, 2]) {
    const stream = new ReadableStream({
      type: "bytes",
      pull: ({ byobRequest }) => {
        const { buffer, byteOffset } = byobRequest!.view!;
        new Uint8Array(buffer, byteOffset).set([1, 2, 3]);
        byobRequest!.respond(3);
      },
    });
    const reader = stream.getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint16Array(new ArrayBuffer(10), byteOffset, 4));
    assert.deepEqual([...new Uint8Array(value!.buffer, value!.byteOffset, value!.byteLength)], [1, 2]);
    assert.deepEqual((await reader.read(new Uint8Array(4))).value, Uint8Array.of(3));
  }
});
