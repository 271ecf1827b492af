import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import type { WritableStreamDefaultController } from "../../lib/streams/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { microtasks, Outcomes, range, turn } from "./progress.ts";

const boom = new Error("boom");
const fail = (): never => {
  throw boom;
};

type Writev = (chunks: number[], controller: WritableStreamDefaultController) => void | PromiseLike<void>;

/** Ways for a writev() to fail. */
const failures: Readonly<Record<string, Writev>> = {
  "throws": fail,
  "returns a promise that is rejected": () => Promise.reject(boom),
  "returns a promise that is rejected in another turn": () => turn().then(() => Promise.reject(boom)),
  "returns a thenable that rejects": () => ({ then: (_: unknown, reject) => reject?.(boom) }) as PromiseLike<void>,
  "returns an object whose then throws": () => ({
    get then(): never {
      throw boom;
    },
  }),
  "errors the stream and throws": (_, controller) => {
    controller.error(boom);
    throw new Error("of no interest");
  },
};

for (const [how, failure] of Object.entries(failures)) {
  for (const batches of [0, 1, 4]) {
    it(`a writev() that ${how} after ${batches} batches: exactly the writes not acknowledged reject`, async () => {
      const sink: { calls: string[]; maxBatch: number; writev: Writev; close(): void; abort(): void } = {
        calls: [],
        maxBatch: 3,
        writev(chunks, controller): void | PromiseLike<void> {
          if (this.calls.push(chunks.join()) > batches) return failure(chunks, controller);
        },
        close: () => void sink.calls.push("close"),
        abort: () => void sink.calls.push("abort"),
      };
      const outcomes = new Outcomes();
      const writer = new BatchedWritableStream<number>(sink).getWriter();
      outcomes.write(writer, 1, 20);
      outcomes.watch("close", writer.close());
      for (let turns = 0; turns < 4; turns++) await turn();
      for (const number of range(1, batches * 3)) assert.equal(outcomes.of(String(number)), "fulfilled");
      for (const number of range(batches * 3 + 4, 20)) {
        assert.equal(outcomes.of(String(number)), "rejected: Error: boom");
      }
      const ofFailed = range(batches * 3 + 1, batches * 3 + 3).map((number) => outcomes.of(String(number)));
      assert.ok(ofFailed.every((outcome) => /^rejected: Error: (boom|of no interest)$/.test(outcome)), `${ofFailed}`);
      assert.equal(outcomes.of("close"), "rejected: Error: boom");
      await assert.rejects(writer.closed, boom);
      const calls = range(0, batches).map((batch) => range(batch * 3 + 1, batch * 3 + 3).join());
      assert.deepEqual(sink.calls, calls);
    });
  }
}

it("controller.error() in a writev() that goes well: its batch is acknowledged, the rest rejects", async () => {
  const batches: number[][] = [];
  const stream = new BatchedWritableStream<number>({
    maxBatch: 2,
    writev(chunks, controller): void {
      batches.push(chunks);
      if (batches.length === 2) controller.error(boom);
    },
  });
  const outcomes = new Outcomes();
  outcomes.write(stream.getWriter(), 1, 6);
  await turn();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3 4", "rejected: Error: boom": "5 6" });
  assert.deepEqual(batches, [[1, 2], [3, 4]]);
});

it("abort() within writev() lets its batch end, drops the rest, and tells the sink after it", async () => {
  const calls: string[] = [];
  const stream: BatchedWritableStream<number> = new BatchedWritableStream<number>({
    maxBatch: 2,
    writev(chunks): Promise<void> {
      calls.push(`writev ${chunks}`);
      outcomes.watch("abort", writer.abort(boom));
      return turn().then(() => void calls.push("written"));
    },
    abort: (why) => void calls.push(`abort ${why}`),
  });
  const outcomes = new Outcomes();
  const writer = stream.getWriter();
  outcomes.write(writer, 1, 5);
  await turn();
  await turn();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 abort", "rejected: Error: boom": "3 4 5" });
  assert.deepEqual(calls, ["writev 1,2", "written", "abort Error: boom"]);
});

it("close() within writev() closes after the batches that wait", async () => {
  const calls: string[] = [];
  const stream: BatchedWritableStream<number> = new BatchedWritableStream<number>({
    maxBatch: 2,
    writev(chunks): void {
      calls.push(`writev ${chunks}`);
      if (calls.length === 1) outcomes.watch("close", writer.close());
    },
    close: () => void calls.push("close"),
  });
  const outcomes = new Outcomes();
  const writer = stream.getWriter();
  outcomes.write(writer, 1, 5);
  await turn();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3 4 5 close" });
  assert.deepEqual(calls, ["writev 1,2", "writev 3,4", "writev 5", "close"]);
});

it("abort() by a listener of the signal, and a sink that fails for it, end the stream once", async () => {
  const calls: string[] = [];
  const stream = new BatchedWritableStream<number>({
    start: ({ signal }) =>
      signal.addEventListener("abort", () => outcomes.watch("inner", writer.abort(new Error("no")))),
    writev: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    abort: (why) => void calls.push(`abort ${why}`),
  });
  const outcomes = new Outcomes();
  const writer = stream.getWriter();
  outcomes.write(writer, 1, 2);
  await turn();
  outcomes.write(writer, 3, 4);
  outcomes.watch("outer", writer.abort(boom));
  await turn();
  assert.equal(outcomes.of("1"), "rejected: Error: boom");
  assert.equal(outcomes.of("2"), "rejected: Error: boom");
  assert.match(outcomes.of("3"), /^rejected/);
  assert.match(outcomes.of("4"), /^rejected/);
  assert.equal(calls.length, 1);
  assert.equal(outcomes.of("outer"), "fulfilled");
  assert.equal(outcomes.of("inner"), "fulfilled");
});

it("an abort() of the sink that fails rejects abort(), and the writes with the reason", async () => {
  for (const abort of [() => Promise.reject(boom), fail]) {
    const outcomes = new Outcomes();
    const writer = new BatchedWritableStream<number>({ abort, writev() {} }).getWriter();
    await microtasks();
    outcomes.write(writer, 1, 2);
    outcomes.watch("abort", writer.abort(new Error("reason")));
    outcomes.watch("closed", writer.closed);
    await turn();
    assert.deepEqual(outcomes.all, { "rejected: Error: reason": "1 2 closed", "rejected: Error: boom": "abort" });
  }
});

it("a close() of the sink that fails rejects close() and no write", async () => {
  for (const close of [() => Promise.reject(boom), fail]) {
    const outcomes = new Outcomes();
    const writer = new BatchedWritableStream<number>({ close, writev() {} }).getWriter();
    outcomes.write(writer, 1, 2);
    outcomes.watch("close", writer.close());
    outcomes.watch("closed", writer.closed);
    await turn();
    assert.deepEqual(outcomes.all, { fulfilled: "1 2", "rejected: Error: boom": "close closed" });
  }
});

it("controller.error() in start(), and a start() that is rejected, reject what was written meanwhile", async () => {
  const starts: ((controller: WritableStreamDefaultController) => unknown)[] = [
    (controller) => controller.error(boom),
    () => Promise.reject(boom),
    () => turn().then(() => Promise.reject(boom)),
  ];
  for (const start of starts) {
    let calls = 0;
    const outcomes = new Outcomes();
    const called = (): void => void calls++;
    const sink = { start, writev: called, close: called, abort: called };
    const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 2 }).getWriter();
    outcomes.write(writer, 1, 3);
    outcomes.watch("close", writer.close());
    outcomes.watch("closed", writer.closed);
    await turn();
    await turn();
    assert.deepEqual(outcomes.all, { "rejected: Error: boom": "1 2 3 close closed" });
    assert.equal(calls, 0);
  }
});

it("a start() that throws is thrown by the constructor, and the next stream is not affected", async () => {
  assert.throws(() => new BatchedWritableStream({ start: fail, writev() {} }), boom);
  const sink = new ManualSink({ holds: [] });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  await writer.write(1);
  assert.deepEqual(sink.log, ["start", "writev 1"]);
});

it("writes after a failure reject, and reach no sink", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  const outcomes = new Outcomes();
  outcomes.write(writer, 1, 2);
  await turn();
  sink.fail(boom);
  await turn();
  outcomes.write(writer, 3, 5);
  await turn();
  assert.deepEqual(outcomes.all, { "rejected: Error: boom": "1 2 3 4 5" });
  assert.deepEqual(sink.log, ["start", "writev 1,2"]);
});

it("a writer that lets go leaves its writes to be acknowledged or rejected", async () => {
  for (const goesWell of [true, false]) {
    const sink = new ManualSink();
    const stream = new BatchedWritableStream<number>(sink);
    const outcomes = new Outcomes();
    const first = stream.getWriter();
    outcomes.write(first, 1, 2);
    first.releaseLock();
    await assert.rejects(first.write(3), TypeError);
    const second = stream.getWriter();
    outcomes.write(second, 4, 5);
    second.releaseLock();
    await turn();
    assert.deepEqual(sink.log, ["start", "writev 1,2,4,5"]);
    if (goesWell) sink.succeed();
    else sink.fail(boom);
    await turn();
    assert.deepEqual(outcomes.all, { [goesWell ? "fulfilled" : "rejected: Error: boom"]: "1 2 4 5" });
  }
});
