import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { ByteStreamBody, ChunkSizedReads } from "../../lib/upload/body/stream_body.ts";
import { noise } from "../support/bytes.ts";
import { randomNumbers } from "../support/random_numbers.ts";

const MOST = 128 * 1024;

/** Reads a body from a model of Deno's server; most bytes that it held, and how many reads it took. */
function readAll(chunks: readonly number[]): { held: number; reads: number } {
  const asked = new ChunkSizedReads(MOST);
  const wire = chunks.map((size) => ({ frame: size.toString(16).length + 4, size }));
  let onWire = wire.reduce((total, { frame, size }) => total + frame + size, 0);
  let buffered = 0;
  let largest = 0;
  let held = 0;
  let reads = 0;
  for (const chunk of wire) {
    while (chunk.size > 0) {
      largest = Math.max(largest, asked.size);
      const taken = Math.min(largest, onWire);
      onWire -= taken;
      buffered += taken - chunk.frame;
      chunk.frame = 0;
      const given = Math.min(asked.size, chunk.size, buffered);
      buffered -= given;
      chunk.size -= given;
      held = Math.max(held, buffered);
      asked.gave(given);
      reads++;
    }
  }
  return { held, reads };
}

const sizes = [1024, 4096, 16_384, 32_768, 50_000, 65_524, 65_536];

for (const size of sizes) {
  test(`of chunks of ${size} bytes, a tenth of the body is held at most, and most reads give a chunk`, () => {
    const count = Math.ceil(20_000_000 / size);
    const { held, reads } = readAll(new Array(count).fill(size));
    assert.ok(held < 2_000_000, `${held} bytes are held`);
    assert.ok(reads < count * 1.1 + 500, `${reads} reads of ${count} chunks`);
  });
}

test("chunks larger than a read, and a small one before them, are read in large parts", () => {
  const { reads } = readAll([150, ...new Array(20).fill(1_000_000)]);
  assert.ok(reads < 7000, `${reads} reads`);
});

test("reads never become larger than the most, nor than the least of what chunks gave lately", () => {
  const asked = new ChunkSizedReads(1000);
  for (let i = 0; i < 50; i++) asked.gave(i % 4 === 0 ? 100 : 500);
  assert.ok(asked.size < 700, `${asked.size}`);
  for (let i = 0; i < 50; i++) {
    asked.gave(asked.size);
    asked.gave(asked.size - 100);
  }
  assert.equal(asked.size, 1000);
});

test("small chunks are given together, in order, and none waits for one that does not come", async () => {
  const random = randomNumbers(5);
  const sizes = Array.from({ length: 400 }, () => random(20) === 0 ? 1 + random(9000) : 1 + random(40));
  const sent = noise(sizes.reduce((a, b) => a + b), 3);
  let next = 0;
  let start = 0;
  const goOn = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (next === sizes.length / 2) await goOn.promise;
      if (next === sizes.length) {
        controller.close();
        controller.byobRequest!.respond(0);
        return;
      }
      const view = controller.byobRequest!.view as Uint8Array;
      const length = Math.min(sizes[next], view.length);
      view.set(sent.subarray(start, start + length));
      start += length;
      sizes[next] -= length;
      if (sizes[next] === 0) next++;
      controller.byobRequest!.respond(length);
    },
  });
  const traits = { isReceived: true, leavesBody: false, ownsChunks: false, readsAhead: true };
  const body = new ByteStreamBody(stream.getReader({ mode: "byob" }), traits);
  const got: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const pieces = await body.read();
    if (pieces === undefined) break;
    for (const piece of pieces) {
      got.push(piece.slice());
      bytes += piece.length;
    }
    body.release();
    if (next === sizes.length / 2 && bytes === start) goOn.resolve();
  }
  assert.deepEqual(Buffer.concat(got), Buffer.from(sent));
  assert.ok(got.length < 100, `${got.length} reads for 400 chunks`);
});
