import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream, TransformStream, WritableStream } from "../../lib/streams/mod.ts";

const { prototype } = TransformStream;
const getter = Object.getOwnPropertyDescriptor(prototype, "writable")!;

/** Ways to replace the getter of the writable end, each with its undo. */
const ways: Readonly<Record<string, (answer: () => WritableStream<string>) => [TransformStream, () => void]>> = {
  "a derived class": (answer) => {
    class Derived extends TransformStream<string, string> {
      override get writable(): WritableStream<string> {
        return answer();
      }
    }
    return [new Derived(), () => {}];
  },
  "an own property": (answer) => {
    const transform = new TransformStream<string, string>();
    Object.defineProperty(transform, "writable", { get: answer });
    return [transform, () => {}];
  },
  "the class's prototype": (answer) => {
    Object.defineProperty(prototype, "writable", { ...getter, get: answer });
    return [new TransformStream<string, string>(), () => Object.defineProperty(prototype, "writable", getter)];
  },
};

for (const [name, put] of Object.entries(ways)) {
  test(`pipeThrough() pipes into what a getter of ${name} gives`, async () => {
    const written: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const [transform, undo] = put(() =>
      new WritableStream<string>({ write: (chunk) => void written.push(chunk), close: resolve })
    );
    try {
      ReadableStream.from(["a", "b"]).pipeThrough(transform);
    } finally {
      undo();
    }
    await promise;
    assert.deepEqual(written, ["a", "b"]);
  });
}

test("the writable end of a transform that is piped into is locked, whenever it is looked at", async () => {
  const transform = new TransformStream<string, string>();
  const readable = ReadableStream.from(["a"]).pipeThrough(transform);
  assert.equal(readable, transform.readable);
  assert.equal(transform.writable.locked, true);
  assert.equal(transform.writable, transform.writable);
  assert.throws(() => transform.writable.getWriter(), TypeError);
  assert.throws(() => ReadableStream.from(["b"]).pipeThrough(transform), TypeError);
  assert.deepEqual(await Array.fromAsync(readable), ["a"]);
  assert.equal(transform.writable.locked, false);
});
