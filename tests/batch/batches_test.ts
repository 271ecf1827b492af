import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ByteLengthQueuingStrategy, CountQueuingStrategy, ReadableStream } from "../../lib/streams/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { microtasks, Outcomes, range, turn } from "./progress.ts";

/** Writes chunks to a stream that closes at once, and returns the sizes of its batches. */
async function batchesOf(
  chunks: readonly Uint8Array[],
  maxBatch: number,
  highWaterMark = Infinity,
): Promise<number[][]> {
  const sink = new ManualSink<Uint8Array>({ holds: [], maxBatch });
  const writer = new BatchedWritableStream(sink, new ByteLengthQueuingStrategy({ highWaterMark })).getWriter();
  for (const chunk of chunks) void writer.write(chunk);
  await writer.close();
  assert.deepEqual(sink.batches.flat(), chunks);
  return sink.batches.map((batch) => batch.map((chunk) => chunk.byteLength));
}

function bytes(...sizes: number[]): Uint8Array[] {
  return sizes.map((size) => new Uint8Array(size));
}

it("all that is written in a turn goes to the sink in one writev()", async () => {
  const sink = new ManualSink({ holds: [] });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  for (const number of range(1, 1000)) void writer.write(number);
  await turn();
  assert.deepEqual(sink.batches, [range(1, 1000)]);
});

it("what is written while a writev() is under way goes together in the next one", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  void writer.write(1);
  await turn();
  void writer.write(2);
  await turn();
  void writer.write(3);
  await microtasks();
  void writer.write(4);
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1"]);
  sink.succeed();
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1", "writev 2,3,4"]);
});

it("chunks of any kind arrive as they are, in the order in which they were written", async () => {
  const sink = new ManualSink<unknown>({ holds: [] });
  const writer = new BatchedWritableStream<unknown>(sink).getWriter();
  const chunks = [undefined, null, 0, "", Number.NaN, {}, [], Promise.resolve(), () => {}, Symbol("chunk")];
  for (const chunk of chunks) void writer.write(chunk);
  await writer.close();
  assert.equal(sink.batches.length, 1);
  assert.deepEqual(sink.batches[0], chunks);
  chunks.forEach((chunk, index) => assert.equal(sink.batches[0][index], chunk));
});

it("the array of a batch is the sink's to keep and to change", async () => {
  const arrays: number[][] = [];
  const seen: number[][] = [];
  const stream = new BatchedWritableStream<number>({
    writev(chunks): void {
      arrays.push(chunks);
      seen.push([...chunks]);
      chunks.push(-1);
      chunks.length = 0;
    },
  }, { highWaterMark: 4 });
  const writer = stream.getWriter();
  for (const number of range(1, 10)) {
    await writer.ready;
    void writer.write(number);
  }
  await writer.close();
  assert.deepEqual(seen.flat(), range(1, 10));
  assert.equal(new Set(arrays).size, arrays.length);
  assert.ok(arrays.every((array) => array.length === 0));
});

it("maxBatch limits the chunks of a batch", async () => {
  for (const [maxBatch, expected] of [[1, 10], [3, 4], [4, 3], [9, 2], [10, 1], [11, 1]]) {
    const sink = new ManualSink({ holds: [], maxBatch });
    const writer = new BatchedWritableStream<number>(sink).getWriter();
    for (const number of range(1, 10)) void writer.write(number);
    await writer.close();
    assert.equal(sink.batches.length, expected, `maxBatch ${maxBatch}`);
    assert.ok(sink.batches.slice(0, -1).every((batch) => batch.length === maxBatch));
    assert.deepEqual(sink.batches.flat(), range(1, 10));
  }
});

it("a fractional maxBatch, and one below 1, are kept to", async () => {
  for (const [maxBatch, most] of [[2.5, 2], [0.5, 1]]) {
    const sink = new ManualSink({ holds: [], maxBatch });
    const writer = new BatchedWritableStream<number>(sink).getWriter();
    for (const number of range(1, 6)) void writer.write(number);
    await writer.close();
    assert.deepEqual(sink.batches.map((batch) => batch.length), new Array(6 / most).fill(most));
    const ofPipe = new ManualSink({ holds: [], maxBatch });
    const source = new ReadableStream<number>({
      start(controller): void {
        for (const number of range(1, 6)) controller.enqueue(number);
        controller.close();
      },
    });
    await source.pipeTo(new BatchedWritableStream<number>(ofPipe));
    assert.deepEqual(ofPipe.batches, sink.batches);
  }
});

it("maxBatch counts bytes with a ByteLengthQueuingStrategy", async () => {
  assert.deepEqual(await batchesOf(bytes(4, 4, 4, 4, 4), 10), [[4, 4], [4, 4], [4]]);
  assert.deepEqual(await batchesOf(bytes(5, 5, 1), 10), [[5, 5], [1]]);
  assert.deepEqual(await batchesOf(bytes(9, 2, 9, 1), 10), [[9], [2], [9, 1]]);
});

it("a chunk larger than maxBatch goes alone", async () => {
  assert.deepEqual(await batchesOf(bytes(11), 10), [[11]]);
  assert.deepEqual(await batchesOf(bytes(1, 11, 1, 1), 10), [[1], [11], [1, 1]]);
  assert.deepEqual(await batchesOf(bytes(11, 12, 0, 13), 10), [[11], [12], [0], [13]]);
});

it("empty chunks are chunks like any other", async () => {
  assert.deepEqual(await batchesOf(bytes(0, 0, 0), 10), [[0, 0, 0]]);
  assert.deepEqual(await batchesOf(bytes(0, 10, 0, 0), 10), [[0, 10, 0, 0]]);
  assert.deepEqual(await batchesOf(bytes(0), 10, 0), [[0]]);
});

it("a batch that has reached maxBatch goes at once, within write()", async () => {
  const sink = new ManualSink({ maxBatch: 3 });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  void writer.write(1);
  void writer.write(2);
  assert.deepEqual(sink.batches, []);
  void writer.write(3);
  assert.deepEqual(sink.batches, [[1, 2, 3]]);
});

it("a batch that has no room for the next chunk goes at once, within write()", async () => {
  const sink = new ManualSink({ maxBatch: 10 });
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 100, size: (chunk) => chunk! }).getWriter();
  await turn();
  void writer.write(4);
  void writer.write(5);
  assert.deepEqual(sink.batches, []);
  void writer.write(6);
  assert.deepEqual(sink.batches, [[4, 5]]);
});

it("a queue that has reached the high-water mark goes at once, within write()", async () => {
  for (const strategy of [{ highWaterMark: 3 }, new CountQueuingStrategy({ highWaterMark: 3 })]) {
    const sink = new ManualSink();
    const writer = new BatchedWritableStream<number>(sink, strategy).getWriter();
    await turn();
    void writer.write(1);
    void writer.write(2);
    assert.deepEqual(sink.batches, []);
    void writer.write(3);
    assert.deepEqual(sink.batches, [[1, 2, 3]]);
  }
});

it("with a high-water mark of 0 each chunk goes at once, and those that come meanwhile go together", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 0 }).getWriter();
  await turn();
  void writer.write(1);
  assert.deepEqual(sink.log, ["start", "writev 1"]);
  for (const number of range(2, 4)) void writer.write(number);
  sink.succeed();
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1", "writev 2,3,4"]);
});

it("the default high-water mark is 1,024 chunks", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  assert.equal(writer.desiredSize, 1024);
  for (const number of range(1, 1023)) void writer.write(number);
  assert.equal(sink.batches.length, 0);
  void writer.write(1024);
  assert.deepEqual(sink.batches, [range(1, 1024)]);
  assert.equal(writer.desiredSize, 0);
});

it("nothing that a sink's writev() itself writes is lost or doubled", async () => {
  const batches: number[][] = [];
  const stream: BatchedWritableStream<number> = new BatchedWritableStream<number>({
    writev(chunks): void {
      batches.push(chunks);
      if (chunks.includes(1)) { for (const number of range(101, 106)) void writer.write(number); }
    },
  }, { highWaterMark: 3 });
  const writer = stream.getWriter();
  for (const number of range(1, 5)) void writer.write(number);
  await turn();
  void writer.write(6);
  await writer.close();
  assert.deepEqual(batches.flat(), [...range(1, 5), ...range(101, 106), 6]);
});

it("all writes of a batch return the same promise, and those of two batches do not", () => {
  const sink = new ManualSink({ maxBatch: 2 });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  const promises = range(1, 4).map((number) => writer.write(number));
  assert.equal(promises[0], promises[1]);
  assert.equal(promises[2], promises[3]);
  assert.notEqual(promises[0], promises[2]);
});

it("no sink at all takes everything", async () => {
  for (const stream of [new BatchedWritableStream<number>(), new BatchedWritableStream<number>(undefined)]) {
    const outcomes = new Outcomes();
    const writer = stream.getWriter();
    outcomes.write(writer, 1, 3);
    await turn();
    outcomes.watch("close", writer.close());
    await turn();
    assert.deepEqual(outcomes.all, { fulfilled: "1 2 3 close" });
  }
});

it("many small batches, one after the other, keep their order", async () => {
  const sink = new ManualSink({ holds: [], maxBatch: 7 });
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 100 }).getWriter();
  for (const number of range(1, 5000)) {
    if (writer.desiredSize! <= 0) await writer.ready;
    void writer.write(number);
    if (number % 331 === 0) await turn();
  }
  await writer.close();
  assert.deepEqual(sink.batches.flat(), range(1, 5000));
  assert.ok(sink.batches.every((batch) => batch.length <= 7));
});
