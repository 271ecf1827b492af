import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { gzip as gzipOfNode } from "node:zlib";
import { promisify } from "node:util";
import { CompressionStream, DecompressionStream, ready } from "../../lib/codecs/mod.ts";

const MIB = 1024 * 1024;

/** Counts the turns of the event loop until a promise settles, while each step of a codec seems to take 11 ms. */
async function turnsUntil(promise: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = mock.method(performance, "now", () => now += 11);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await promise();
  isOver = true;
  clock.mock.restore();
  return turns;
}

for (const format of ["gzip", "zstd", "brotli"] as const) {
  test(`a chunk that takes long lets others have their turns while it is compressed to ${format}`, async () => {
    await ready([format]);
    const { readable, writable } = new CompressionStream(format, { level: 1 });
    const all = new Response(readable).bytes();
    const writer = writable.getWriter();
    const turns = await turnsUntil(() => writer.write(new Uint8Array(MIB)));
    assert.ok(turns >= 14, `${turns} turns for 16 pieces`);
    await writer.close();
    await all;
  });
}

test("a chunk that grows lets others have their turns while it is decompressed", async () => {
  await ready(["gzip"]);
  const { readable, writable } = new DecompressionStream("gzip");
  const all = new Response(readable).bytes();
  const writer = writable.getWriter();
  const small = new Uint8Array(await promisify(gzipOfNode)(new Uint8Array(MIB)));
  const turns = await turnsUntil(() => writer.write(small));
  assert.ok(turns >= 14, `${turns} turns for 16 pieces`);
  await writer.close();
  assert.equal((await all).length, MIB);
});

test("an abort ends what computes", async () => {
  await ready(["zstd"]);
  const { readable, writable } = new CompressionStream("zstd", { level: 1 });
  const reading = assert.rejects(new Response(readable).bytes());
  const writer = writable.getWriter();
  const turns = await turnsUntil(async () => {
    const writing = writer.write(new Uint8Array(64 * MIB)); // a thousand pieces
    writing.catch(() => {});
    const reason = new Error("enough");
    setImmediate(() => void writer.abort(reason));
    await assert.rejects(writing, reason);
  });
  assert.ok(turns < 50, `${turns} turns`);
  await reading;
});
