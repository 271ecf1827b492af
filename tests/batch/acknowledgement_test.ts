import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { microtasks, Outcomes, statusOf, turn } from "./progress.ts";

it("write() promises settle with their batch and not before", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  const outcomes = new Outcomes();
  outcomes.write(writer, 1, 3);
  await turn();
  outcomes.write(writer, 4, 5);
  await turn();
  await turn();
  assert.deepEqual(outcomes.all, { pending: "1 2 3 4 5" });
  sink.succeed();
  await microtasks();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3", pending: "4 5" });
  await turn();
  outcomes.write(writer, 6, 6);
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3", pending: "4 5 6" });
  sink.succeed();
  await microtasks();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3 4 5", pending: "6" });
});

it("write() promises of a sink that returns no promise settle in order, before those of the next one", async () => {
  const events: string[] = [];
  const writer = new BatchedWritableStream<number>({
    maxBatch: 2,
    writev: (chunks) => void events.push(`writev ${chunks}`),
    close: () => void events.push("close"),
  }).getWriter();
  for (const number of [1, 2, 3]) void writer.write(number).then(() => events.push(`${number}`));
  void writer.close().then(() => events.push("closed"));
  await turn();
  assert.deepEqual(events, ["writev 1,2", "writev 3", "1", "2", "close", "3", "closed"]);
});

it("desiredSize is the high-water mark less all that is not acknowledged, in flight or not", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 5 }).getWriter();
  const sizes: (number | null)[] = [writer.desiredSize];
  const step = async (what: () => unknown): Promise<void> => {
    void what();
    sizes.push(writer.desiredSize);
    await turn();
    sizes.push(writer.desiredSize);
  };
  await step(() => writer.write(1)); // starts to be written as the turn ends
  await step(() => writer.write(2));
  await step(() => writer.write(3));
  await step(() => sink.succeed()); // 2 and 3 are in flight next
  await step(() => [4, 5, 6, 7].map((number) => writer.write(number)));
  await step(() => sink.succeed());
  await step(() => sink.succeed());
  assert.deepEqual(sizes, [5, 4, 4, 3, 3, 2, 2, 2, 3, -1, -1, -1, 1, 1, 5]);
  assert.deepEqual(sink.log, ["start", "writev 1", "writev 2,3", "writev 4,5,6,7"]);
});

it("ready is pending while the queue is full, and resolved as soon as a batch leaves room", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 2 }).getWriter();
  await microtasks();
  assert.equal(await statusOf(writer.ready), "fulfilled");
  void writer.write(1);
  assert.equal(await statusOf(writer.ready), "fulfilled");
  void writer.write(2);
  const { ready } = writer;
  assert.equal(await statusOf(ready), "pending");
  void writer.write(3);
  assert.equal(writer.ready, ready);
  sink.succeed();
  assert.equal(await statusOf(ready), "fulfilled");
  assert.equal(writer.ready, ready);
  assert.equal(writer.desiredSize, 1);
});

it("ready stays pending while a batch makes too little room", async () => {
  const sink = new ManualSink({ maxBatch: 1 });
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 2 }).getWriter();
  await microtasks();
  for (const number of [1, 2, 3, 4]) void writer.write(number);
  for (const [desiredSize, status] of [[-1, "pending"], [0, "pending"], [1, "fulfilled"], [2, "fulfilled"]]) {
    sink.succeed();
    assert.equal(await statusOf(writer.ready), status);
    assert.equal(writer.desiredSize, desiredSize);
    await turn();
  }
});

it("ready resolves when the stream closes, however full it is; desiredSize is 0 when it has closed", async () => {
  const sink = new ManualSink({ holds: ["writev", "close"] });
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 2 }).getWriter();
  for (const number of [1, 2, 3]) void writer.write(number);
  assert.equal(await statusOf(writer.ready), "pending");
  void writer.close();
  assert.equal(await statusOf(writer.ready), "fulfilled");
  assert.equal(writer.desiredSize, -1);
  sink.succeed();
  await turn();
  assert.equal(writer.desiredSize, 2);
  assert.equal(await statusOf(writer.closed), "pending");
  sink.succeed();
  await turn();
  assert.equal(writer.desiredSize, 0);
  assert.equal(await statusOf(writer.closed), "fulfilled");
});

it("a high-water mark of 0 is always full, and of Infinity never", async () => {
  const never = new BatchedWritableStream<number>(undefined, { highWaterMark: 0 }).getWriter();
  assert.equal(never.desiredSize, 0);
  assert.equal(await statusOf(never.ready), "pending");
  await never.write(1);
  assert.equal(await statusOf(never.ready), "pending");
  const always = new BatchedWritableStream<number>(undefined, { highWaterMark: Infinity }).getWriter();
  void always.write(1);
  assert.equal(always.desiredSize, Infinity);
  assert.equal(await statusOf(always.ready), "fulfilled");
});

it("the last batch goes at once when the stream closes, within close()", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  void writer.write(1);
  void writer.write(2);
  void writer.close();
  assert.deepEqual(sink.log, ["start", "writev 1,2"]);
  sink.succeed();
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1,2", "close"]);
});

it("what waits behind a batch in flight follows it at once when the stream is closing", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  void writer.write(1);
  await turn();
  void writer.write(2);
  void writer.close();
  sink.succeed();
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1", "writev 2"]);
});

it("writeAll() writes as many write() calls would, and settles with the last batch", async () => {
  const sink = new ManualSink({ maxBatch: 2 });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  let isDone = false;
  const all = writer.writeAll(new Set([1, 2, 3])).then(() => isDone = true);
  void writer.write(4);
  await turn();
  sink.succeed();
  await turn();
  assert.equal(isDone, false);
  sink.succeed();
  await all;
  assert.deepEqual(sink.batches, [[1, 2], [3, 4]]);
  await writer.writeAll([]);
  await writer.close();
  await assert.rejects(writer.writeAll([5]), TypeError);
});

it("writeAll() rejects once, with the reason of the batch that failed, behind those that are written", async () => {
  const sink = new ManualSink({ maxBatch: 2 });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  writer.closed.catch(() => {});
  const all = writer.writeAll([1, 2, 3, 4, 5, 6]);
  await turn();
  sink.succeed();
  await turn();
  sink.fail("full");
  await assert.rejects(all, (error) => error === "full");
  assert.deepEqual(sink.batches, [[1, 2], [3, 4]]);
  await assert.rejects(writer.writeAll([7, 8]), (error) => error === "full");
});

it("writeAll() of what throws half-way writes what came before, and rejects with that error", async () => {
  const written: number[] = [];
  const writer = new BatchedWritableStream<number>({ writev: (batch) => void written.push(...batch) }).getWriter();
  const broken = function* (): Generator<number> {
    yield 1;
    throw new RangeError("no more");
  };
  await assert.rejects(writer.writeAll(broken()), { name: "RangeError", message: "no more" });
  await writer.close();
  assert.deepEqual(written, [1]);
});
