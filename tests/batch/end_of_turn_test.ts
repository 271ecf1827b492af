import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { ManualSink } from "./manual_sink.ts";
import { microtasks, range, turn, turns } from "./progress.ts";

it("a lone chunk is not written within write(), nor in the microtasks after it", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  void writer.write(1);
  assert.deepEqual(sink.log, ["start"]);
  await microtasks();
  assert.deepEqual(sink.log, ["start"]);
});

it("a lone chunk reaches the sink before anything that is put off to the end of the turn after it", async () => {
  const events: string[] = [];
  const writer = new BatchedWritableStream<number>({ writev: (chunks) => void events.push(`writev ${chunks}`) })
    .getWriter();
  await turn();
  setImmediate(() => events.push("before"));
  void writer.write(1);
  setImmediate(() => events.push("after"));
  await turn();
  await turn();
  assert.deepEqual(events, ["before", "writev 1", "after"]);
});

it("a lone chunk that is written before the stream has started reaches the sink in the same turn", async () => {
  const events: string[] = [];
  const writer = new BatchedWritableStream<number>({ writev: () => void events.push("writev") }).getWriter();
  void writer.write(1);
  await microtasks();
  setImmediate(() => events.push("after"));
  await turn();
  await turn();
  assert.deepEqual(events, ["writev", "after"]);
});

it("a lone chunk that start() has held up is written when that ends, as its turn ends at the latest", async () => {
  const sink = new ManualSink({ holds: ["start", "writev"] });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  void writer.write(1);
  await turn();
  await turn();
  assert.deepEqual(sink.log, ["start"]);
  sink.succeed();
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1"]);
});

it("a timer's chunk reaches the sink before the next timer's turn", async () => {
  const events: string[] = [];
  const writer = new BatchedWritableStream<number>({ writev: (chunks) => void events.push(`writev ${chunks}`) })
    .getWriter();
  for (const number of [1, 2, 3]) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    events.push(`timer ${number}`);
    void writer.write(number);
    await turn();
  }
  assert.deepEqual(events, ["timer 1", "writev 1", "timer 2", "writev 2", "timer 3", "writev 3"]);
});

it("chunks that come in the microtasks of one turn go together", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await turn();
  for (let number = 1; number <= 20; number++) {
    void writer.write(number);
    await microtasks();
  }
  await turn();
  assert.equal(sink.batches.length, 1);
});

it("what waits behind a batch is written as the turn ends in which that is acknowledged, not before", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  void writer.write(1);
  await turn();
  void writer.write(2);
  await turn();
  sink.succeed();
  await microtasks();
  void writer.write(3);
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1"]);
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1", "writev 2,3"]);
});

it("a turn that ends while a full batch is in flight does not hurry what waits behind it", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 3 }).getWriter();
  await microtasks();
  for (const number of [1, 2, 3, 4]) void writer.write(number);
  await turn();
  sink.succeed();
  await microtasks();
  void writer.write(5);
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1,2,3"]);
  await turns();
  assert.deepEqual(sink.log, ["start", "writev 1,2,3", "writev 4,5"]);
});

it("a producer that had to wait for a slow batch may fill the queue again over some turns", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 6 }).getWriter();
  await turn();
  for (const number of range(1, 6)) void writer.write(number);
  await new Promise((resolve) => setTimeout(resolve, 200)); // time that it has, too
  sink.succeed();
  await writer.ready;
  for (const number of [7, 9, 11]) {
    assert.equal(sink.batches.length, 1);
    void writer.write(number);
    void writer.write(number + 1);
    await turn();
  }
  assert.deepEqual(sink.batches, [range(1, 6), range(7, 12)]);
});

it("a producer that had to wait for a slow batch, and gives no more in a turn, has what it gave written", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 6 }).getWriter();
  await turn();
  for (const number of range(1, 6)) void writer.write(number);
  await new Promise((resolve) => setTimeout(resolve, 200));
  sink.succeed();
  await writer.ready;
  void writer.write(7);
  await turn();
  void writer.write(8);
  await turns();
  assert.deepEqual(sink.batches, [range(1, 6), [7, 8]]);
});

it("what a pipe brings after a pause reaches the sink in its turn, however full the last batch was", async () => {
  const events: string[] = [];
  const stream = new BatchedWritableStream<number>({ writev: (chunks) => void events.push(`writev ${chunks}`) }, {
    highWaterMark: 3,
  });
  let controller: ReadableStreamDefaultController<number> = undefined as never;
  const source = new ReadableStream<number>({
    start(given): void {
      controller = given as never;
      for (const number of [1, 2, 3]) given.enqueue(number);
    },
  });
  const piped = source.pipeTo(stream);
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.enqueue(4);
  await microtasks();
  controller.enqueue(5);
  await microtasks();
  setImmediate(() => events.push("after"));
  await turns();
  controller.close();
  await piped;
  assert.deepEqual(events, ["writev 1,2,3", "writev 4,5", "after"]);
});

it("a turn that ends after an abort or an error writes nothing, and throws nothing", async () => {
  for (const end of ["abort", "error"]) {
    const sink = new ManualSink();
    const writer = new BatchedWritableStream<number>(sink).getWriter();
    await turn();
    writer.write(1).catch(() => {});
    if (end === "abort") await writer.abort();
    else sink.controller.error(new Error("boom"));
    await turn();
    assert.ok(!sink.log.some((call) => call.startsWith("writev")));
  }
});

it("without setImmediate(), as in browsers, a batch is written as the turn ends too", async () => {
  const program = join(root, "tests/batch/without_set_immediate.ts");
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const events = JSON.parse(await output(process.execPath, [...flags, program], root));
  assert.deepEqual(events, ["no batch yet", "writev 1,2", "one", "two", "writev 3"]);
});

it("a batch behind one that filled the queue waits while each turn adds to it, however long turns take", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 8 }).getWriter();
  await turn();
  for (const number of range(1, 8)) void writer.write(number);
  await turn();
  sink.succeed();
  await microtasks();
  for (const number of range(1, 5)) {
    void writer.write(number);
    for (const end = performance.now() + 2; performance.now() < end;);
    await turn();
  }
  assert.equal(sink.batches.length, 1);
  await turn();
  await turn();
  assert.deepEqual(sink.batches[1], range(1, 5));
});
