import assert from "node:assert/strict";
import test from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream, WritableStream } from "../../lib/streams/mod.ts";

/** Returns a destination that notes its calls. */
function noting(log: unknown[], highWaterMark: number): BatchedWritableStream<unknown> {
  return new BatchedWritableStream<unknown>({
    writev: (batch) => void log.push(...batch),
    close: () => void log.push("close"),
    abort: (reason) => void log.push("abort", reason),
  }, { highWaterMark });
}

const counted = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

for (const highWaterMark of [1, 7, 1024]) {
  test(`a batched stream with a mark of ${highWaterMark} gets all of an iterable that a pipe reads`, async () => {
    const log: unknown[] = [];
    await ReadableStream.from(counted(5000)).pipeTo(noting(log, highWaterMark));
    assert.deepEqual(log, [...counted(5000), "close"]);
  });

  test(`a batched stream with a mark of ${highWaterMark} gets objects, promises' values and what lies between`, async () => {
    const object = { an: "object" };
    const bytes = new Uint8Array(2);
    const items = [1, 2, object, 3, Promise.resolve(4), 5, bytes, null, undefined, 6];
    const log: unknown[] = [];
    await ReadableStream.from(items).pipeTo(noting(log, highWaterMark));
    assert.deepEqual(log, [1, 2, object, 3, 4, 5, bytes, null, undefined, 6, "close"]);
  });

  test(`what an iterable gave before it failed is written to a batched stream with a mark of ${highWaterMark}`, async () => {
    const failure = new Error("no more");
    const log: unknown[] = [];
    const failing = function* (): Generator<number> {
      yield* counted(10);
      throw failure;
    };
    await assert.rejects(ReadableStream.from(failing()).pipeTo(noting(log, highWaterMark)), failure);
    assert.deepEqual(log, [...counted(10), "abort", failure]);
  });
}

test("an iterable is asked for no more items than the destination has room for", async () => {
  let asked = 0;
  const endless = function* (): Generator<number> {
    for (;;) yield asked++;
  };
  const abort = new AbortController();
  const stalled = new BatchedWritableStream({ writev: () => new Promise(() => {}) }, { highWaterMark: 100 });
  const piped = ReadableStream.from(endless()).pipeTo(stalled, { signal: abort.signal });
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(asked, 100);
  abort.abort(new Error("enough"));
  void piped.catch(() => {});
});

test("an iterable that aborts its own pipe gives nothing more, and loses nothing that it gave", async () => {
  const reason = new Error("from within");
  const abort = new AbortController();
  let returned = false;
  const aborting = function* (): Generator<number> {
    try {
      for (let item = 0;; item++) {
        if (item === 5) abort.abort(reason);
        yield item;
      }
    } finally {
      returned = true;
    }
  };
  const log: unknown[] = [];
  const destination = noting(log, 1024);
  const source = ReadableStream.from(aborting());
  await assert.rejects(source.pipeTo(destination, { signal: abort.signal, preventAbort: true }), reason);
  assert.equal(returned, true);
  await destination.close();
  assert.deepEqual(log, [0, 1, 2, 3, 4, 5, "close"]);
});

test("an iterable gives the same to a plain stream and to a batched one, however many reads came before", async () => {
  for (const reads of [0, 1, 3]) {
    const results: unknown[][] = [];
    for (const make of [noting, plain]) {
      const log: unknown[] = [];
      const source = ReadableStream.from(new Set(["a", "b", "c", "d", "e"]));
      const reader = source.getReader();
      for (let i = 0; i < reads; i++) log.push((await reader.read()).value);
      reader.releaseLock();
      await source.pipeTo(make(log, 2));
      results.push(log);
    }
    assert.deepEqual(results[0], results[1]);
  }
});

function plain(log: unknown[], highWaterMark: number): WritableStream<unknown> {
  return new WritableStream({ write: (item) => void log.push(item), close: () => void log.push("close") }, {
    highWaterMark,
  });
}
