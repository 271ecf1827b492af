import assert from "node:assert/strict";
import test from "node:test";
import { BatchedWritableStream, coalesceBytes } from "../../lib/batch/mod.ts";
import { pipeTo, ReadableStream, type StreamPipeOptions } from "../../lib/streams/mod.ts";
import { pause, until, within } from "../support/waits.ts";

const LONG = 1_000_000;

async function someTurns(): Promise<void> {
  for (let i = 0; i < 5; i++) await pause(1);
}

interface Numbers {
  readonly batches: number[][];
  readonly writer: WritableStreamDefaultWriter<number>;
}

function numbers(sink: object, highWaterMark?: number): Numbers {
  const batches: number[][] = [];
  const stream = new BatchedWritableStream<number>({ writev: (batch) => void batches.push(batch), ...sink }, {
    highWaterMark,
  });
  return { batches, writer: stream.getWriter() };
}

test("with maxDelay a batch waits for more until minBatch is there", async () => {
  const { batches, writer } = numbers({ maxDelay: LONG, minBatch: 3 });
  for (let number = 0; number < 7; number++) {
    void writer.write(number);
    await someTurns();
  }
  assert.deepEqual(batches, [[0, 1, 2], [3, 4, 5]]);
  await writer.close();
  assert.deepEqual(batches, [[0, 1, 2], [3, 4, 5], [6]]);
});

test("with maxDelay a batch waits until the queue is full, or maxBatch is reached", async () => {
  for (const [sink, highWaterMark] of [[{}, 4], [{ maxBatch: 4, minBatch: 10 }, 100]] as const) {
    const { batches, writer } = numbers({ maxDelay: LONG, ...sink }, highWaterMark);
    writer.closed.catch(() => {});
    for (let number = 0; number < 9; number++) {
      writer.write(number).catch(() => {}); // of the last one
      await someTurns();
    }
    assert.deepEqual(batches, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    await writer.abort();
    assert.equal(batches.length, 2);
  }
});

test("with maxDelay a lone chunk is written when that has passed, again and again", async () => {
  const { batches, writer } = numbers({ maxDelay: 5, minBatch: 100 });
  for (let number = 0; number < 5; number++) await within(writer.write(number), "a lone chunk");
  const together = [5, 6].map((number) => writer.write(number));
  await within(Promise.all(together), "two chunks");
  assert.deepEqual(batches, [[0], [1], [2], [3], [4], [5, 6]]);
  await writer.close();
});

test("with maxDelay what has waited behind a batch in flight goes at once when that has ended", async () => {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  const stream = new BatchedWritableStream<number>({
    maxDelay: 10,
    writev(batch) {
      batches.push(batch);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  });
  const writer = stream.getWriter();
  void writer.write(1);
  await until(() => batches.length === 1, "the first batch");
  void writer.write(2);
  void writer.write(3);
  await pause(30);
  assert.equal(batches.length, 1);
  ends[0]!();
  await until(() => batches.length === 2, "the second batch");
  ends[1]();
  const closed = writer.close();
  await within(closed, "close()");
  assert.deepEqual(batches, [[1], [2, 3]]);
});

test("with maxDelay the chunks of a pipe wait, and go when it ends", async () => {
  const piped: number[][] = [];
  const stream = new BatchedWritableStream<number>({ maxDelay: LONG, writev: (batch) => void piped.push(batch) });
  await within(ReadableStream.from([1, 2, 3]).pipeTo(stream), "the pipe");
  assert.deepEqual(piped, [[1, 2, 3]]);
});

/** Runs a pipe until `stop()` is called; returns its batches. */
async function stopped(
  makeSource: (stop: () => void) => globalThis.ReadableStream<number>,
  options: StreamPipeOptions,
): Promise<number[][]> {
  const batches: number[][] = [];
  const sink = new BatchedWritableStream<number>({
    maxDelay: LONG,
    minBatch: 2,
    async writev(batch) {
      batches.push(batch);
      await someTurns();
    },
  });
  const stop = new AbortController();
  const piped = pipeTo(makeSource(() => stop.abort()), sink, { signal: stop.signal, ...options });
  await assert.rejects(within(piped, "the pipe"), { name: "AbortError" });
  return batches;
}

for (
  const [name, options] of Object.entries({ "": {}, " that counts": { counts: { chunksRead: 0, chunksWritten: 0 } } })
) {
  test(`with maxDelay a stopped pipe${name} waits for no delay of a chunk that comes while a batch is in flight`, async () => {
    let number = 0;
    const batches = await stopped((stop) =>
      new ReadableStream<number>({
        async pull(controller) {
          if (number === 2) {
            stop();
            await undefined;
          }
          controller.enqueue(number++);
        },
      }, { highWaterMark: 0 }), options);
    assert.deepEqual(batches, [[0, 1], [2]]);
  });

  test(`with maxDelay a pipe${name} that its source stops waits for no delay of the chunk of that call`, async () => {
    const batches = await stopped((stop) => {
      let number = 0;
      return new ReadableStream<number>({
        pull(controller) {
          if (number === 1) stop();
          controller.enqueue(number++);
        },
      }, { highWaterMark: 0 });
    }, options);
    assert.deepEqual(batches.flat(), [0, 1]);
  });
}

test("maxDelay and minBatch are refused where they are none", () => {
  for (const maxDelay of [-1, NaN, Infinity, 2 ** 31]) {
    assert.throws(() => new BatchedWritableStream({ maxDelay, writev() {} }), RangeError);
  }
  assert.throws(() => new BatchedWritableStream({ maxDelay: 1, minBatch: 0, writev() {} }), RangeError);
  assert.throws(() => new BatchedWritableStream({ minBatch: 5, writev() {} }), TypeError);
  assert.throws(() => coalesceBytes({ maxDelay: -1 }), RangeError);
});

test("coalesceBytes() with maxDelay joins what comes slowly", async () => {
  const { readable, writable } = coalesceBytes({ size: 10, maxDelay: LONG });
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const first = reader.read();
  for (let i = 0; i < 6; i++) {
    void writer.write(new Uint8Array(2).fill(i));
    await someTurns();
  }
  assert.deepEqual((await first).value, Uint8Array.of(0, 0, 1, 1, 2, 2, 3, 3, 4, 4));
  const last = reader.read();
  void writer.close();
  assert.deepEqual((await last).value, Uint8Array.of(5, 5));
  assert.equal((await reader.read()).done, true);
});
