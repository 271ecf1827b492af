import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream } from "../../lib/streams/mod.ts";

type Bytes = Uint8Array<ArrayBuffer>;

async function chunksOf(stream: ReadableStream<Bytes>): Promise<number[][]> {
  const chunks: number[][] = [];
  for await (const chunk of stream) chunks.push([...chunk]);
  return chunks;
}

/** Reads a branch to its end with views of three bytes, and returns the chunks. */
async function readInto(stream: ReadableStream<Bytes>): Promise<number[][]> {
  const reader = stream.getReader({ mode: "byob" });
  const chunks: number[][] = [];
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(3));
    if (done) return chunks;
    chunks.push([...value]);
  }
}

const closings: Readonly<Record<string, (controller: ReadableByteStreamController) => void>> = {
  "never asks for views": (controller) => controller.close(),
  "answers for the view that it was lent": (controller) => {
    const { byobRequest } = controller;
    controller.close();
    byobRequest?.respond(0);
  },
};

for (const [name, close] of Object.entries(closings)) {
  test(`both branches end with a source that ${name}, one of them read into views`, { timeout: 60_000 }, async () => {
    const chunks = [[1, 2, 3], [4, 5]];
    const [one, two] = new ReadableStream({
      type: "bytes",
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(new Uint8Array(chunk));
        else close(controller);
      },
    }).tee();
    assert.deepEqual(await Promise.all([readInto(one), chunksOf(two)]), [[[1, 2, 3], [4, 5]], [[1, 2, 3], [4, 5]]]);
  });
}

for (const at of [0, 1]) {
  test(`a branch ends though that with the view (${at + 1}) fails in the middle of an element`, {
    timeout: 60_000,
  }, async () => {
    let source!: ReadableByteStreamController;
    const branches = new ReadableStream({ type: "bytes", start: (controller) => void (source = controller) }).tee();
    const read = branches[at].getReader({ mode: "byob" }).read(new Int32Array(1));
    const refused = assert.rejects(read, { name: "TypeError", code: "ERR_INVALID_STATE" });
    source.enqueue(new Uint8Array([1]));
    await new Promise((resolve) => setTimeout(resolve)); // the view has the byte, and waits for three more
    const other = chunksOf(branches[1 - at]);
    await new Promise((resolve) => setTimeout(resolve)); // it has its byte, and waits for the next
    source.close();
    await refused;
    assert.deepEqual(await other, [[1]]);
  });
}

for (const at of [0, 1]) {
  const name = `both branches end with bytes and a close at once, which fail the view (${at + 1}) of one of them`;
  test(name, { timeout: 60_000 }, async () => {
    let source!: ReadableByteStreamController;
    const branches = new ReadableStream({ type: "bytes", start: (controller) => void (source = controller) }).tee();
    const read = branches[at].getReader({ mode: "byob" }).read(new Int32Array(1));
    const refused = assert.rejects(read, { name: "TypeError", code: "ERR_INVALID_STATE" });
    const other = chunksOf(branches[1 - at]);
    await new Promise((resolve) => setTimeout(resolve)); // both have asked
    source.enqueue(new Uint8Array([1]));
    source.close();
    await refused;
    assert.deepEqual(await other, [[1]]);
    await new Promise((resolve) => setTimeout(resolve)); // an unhandled rejection would be reported by now
  });
}
