import assert from "node:assert/strict";
import test from "node:test";
import { ChunkSizedReads } from "../../lib/upload/body/stream_body.ts";

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
