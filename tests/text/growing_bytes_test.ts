import assert from "node:assert/strict";
import test from "node:test";
import { GrowingBytes } from "../../lib/text/complete_lines.ts";
import { utf8 } from "./chunkings.ts";

test("GrowingBytes keeps copies of what was appended, until it is cleared", () => {
  const line = new GrowingBytes();
  const piece = utf8("mill");
  line.append(piece);
  piece.fill(0);
  line.append(utf8("race\r"));
  assert.equal(new TextDecoder().decode(line.bytes), "millrace\r");
  line.clear();
  assert.deepEqual([line.length, line.bytes.length], [0, 0]);
});

test("GrowingBytes grows by doubling: a line in pieces of a byte is copied a few times only", () => {
  const line = new GrowingBytes();
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 100_000; i++) {
    line.append(new Uint8Array([i]));
    buffers.add(line.bytes.buffer);
  }
  assert.ok(buffers.size < 12, `${buffers.size} buffers`);
  assert.deepEqual(line.bytes, Uint8Array.from({ length: 100_000 }, (_, i) => i));
});

test("GrowingBytes frees each buffer when it is done with, and a large one after its line", () => {
  const line = new GrowingBytes();
  line.append(new Uint8Array(1000));
  const small = line.bytes.buffer;
  line.append(new Uint8Array(1_000_000));
  assert.equal(small.byteLength, 0);
  const large = line.bytes.buffer;
  line.clear();
  assert.equal(large.byteLength, 0);
  assert.equal(line.bytes.buffer.byteLength, 0);
});

test("GrowingBytes uses a small buffer again", () => {
  const line = new GrowingBytes();
  line.append(new Uint8Array(1000));
  const { buffer } = line.bytes;
  line.clear();
  line.append(new Uint8Array(500));
  assert.equal(line.bytes.buffer, buffer);
});
