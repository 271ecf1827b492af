import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import {
  CountQueuingStrategy,
  ReadableStream,
  WritableStream,
  WritableStreamDefaultController,
} from "../../lib/streams/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { ourSources } from "./number_sources.ts";
import { range, turn } from "./progress.ts";

it("a BatchedWritableStream is a WritableStream, of ours and of the runtime's, and locks like one", () => {
  const stream = new BatchedWritableStream();
  assert.ok(stream instanceof WritableStream);
  assert.ok(stream instanceof globalThis.WritableStream);
  assert.equal(Object.prototype.toString.call(stream), "[object BatchedWritableStream]");
  assert.equal(BatchedWritableStream.name, "BatchedWritableStream");
  const writer = stream.getWriter();
  assert.equal(stream.locked, true);
  assert.throws(() => stream.getWriter(), TypeError);
  writer.releaseLock();
  assert.equal(stream.locked, false);
});

it("a class of its own can extend it", async () => {
  const written: string[] = [];
  class Lines extends BatchedWritableStream<string> {
    constructor() {
      super({ writev: (lines) => void written.push(lines.join("\n")) }, { highWaterMark: 10 });
    }
  }
  const lines = new Lines();
  assert.ok(lines instanceof Lines);
  await ReadableStream.from(["a", "b"]).pipeTo(lines);
  assert.deepEqual(written, ["a\nb"]);
});

it("the sink's methods are called on it, with the controller, and looked up once", async () => {
  const calls: unknown[] = [];
  const sink = {
    get start(): unknown {
      calls.push("get start");
      return function (this: unknown, ...args: unknown[]): void {
        calls.push(["start", this === sink, args.length, args[0] instanceof WritableStreamDefaultController]);
      };
    },
    get writev(): unknown {
      calls.push("get writev");
      return function (this: unknown, ...args: unknown[]): void {
        calls.push(["writev", this === sink, args[0], args[1] instanceof WritableStreamDefaultController]);
      };
    },
    get close(): unknown {
      calls.push("get close");
      return function (this: unknown, ...args: unknown[]): void {
        calls.push(["close", this === sink, args]);
      };
    },
    get abort(): unknown {
      calls.push("get abort");
      return undefined;
    },
    get type(): unknown {
      calls.push("get type");
      return undefined;
    },
    get maxBatch(): unknown {
      calls.push("get maxBatch");
      return 2;
    },
  };
  const writer = new BatchedWritableStream<number>(sink as never).getWriter();
  for (const number of range(1, 3)) void writer.write(number);
  await writer.close();
  assert.deepEqual(calls, [
    ...["abort", "close", "maxBatch", "start", "type", "writev"].map((name) => `get ${name}`),
    ["start", true, 1, true],
    ["writev", true, [1, 2], true],
    ["writev", true, [3], true],
    ["close", true, []],
  ]);
});

it("abort() of the sink gets the reason, whatever it is", async () => {
  for (const reason of [undefined, null, 0, "text", new Error("boom")]) {
    const reasons: unknown[] = [];
    const stream = new BatchedWritableStream({ abort: (...args: unknown[]) => void reasons.push(args), writev() {} });
    await stream.abort(reason);
    assert.deepEqual(reasons, [[reason]]);
  }
});

it("a maxBatch that is none is refused", () => {
  for (const maxBatch of [0, -1, NaN, -Infinity]) {
    assert.throws(() => new BatchedWritableStream({ maxBatch, writev() {} }), {
      name: "RangeError",
      message: `maxBatch ${maxBatch} is out of range: use a number above 0`,
    });
  }
  for (const maxBatch of [undefined, 1, 0.1, Infinity]) new BatchedWritableStream({ maxBatch, writev() {} });
});

it("members of the sink that say when a batch starts are refused, by name, if they are no numbers", () => {
  for (const name of ["maxBatch", "maxDelay", "minBatch"]) {
    for (const value of ["5", null, "many", [7], {}, true, 1n, Symbol("many")]) {
      assert.throws(() => new BatchedWritableStream({ maxDelay: 1, [name]: value } as never), {
        name: "TypeError",
        message: new RegExp(`^${name} must be a number`),
      });
    }
  }
});

it("a sink or strategy of the wrong kind is refused, as by a plain stream", () => {
  for (const sink of [null, 1, "text", { writev: 1 }, { close: {} }, { start: 0 }, { abort: "no" }]) {
    assert.throws(() => new BatchedWritableStream(sink as never), TypeError);
  }
  assert.throws(() => new BatchedWritableStream({ type: "bytes" as never, writev() {} }), RangeError);
  for (const highWaterMark of [-1, NaN, "many"]) {
    assert.throws(() => new BatchedWritableStream(undefined, { highWaterMark: highWaterMark as number }), RangeError);
  }
  assert.throws(() => new BatchedWritableStream(undefined, { size: 1 as never }), TypeError);
  assert.throws(() => new BatchedWritableStream(undefined, 1 as never), TypeError);
  assert.throws(() => (BatchedWritableStream as unknown as () => unknown)(), TypeError);
});

it("a sink without writev() is refused with words that say what to do, rather than drop all chunks", () => {
  for (const sink of [{ write() {} }, { writeBatch() {} }, { writeV() {} }, {}]) {
    assert.throws(() => new BatchedWritableStream(sink as never), {
      name: "TypeError",
      message: "the underlying sink has no writev(chunks, controller): for a write(), use a WritableStream",
    });
  }
  new BatchedWritableStream({ write() {}, writev() {} } as never);
});

it("members of a sink, and of a strategy, that are nearly those of a sink are refused with the one that was meant", () => {
  const writev = (): void => {};
  for (const [misspelt, meant] of Object.entries({ maxbatch: "maxBatch", onFail: "onFailed", minDelay: "maxDelay" })) {
    const message = new RegExp(`has a member "${misspelt}": did you mean "${meant}" of the underlying sink`);
    const odd = { [misspelt]: 5 };
    for (const args of [[{ writev, ...odd }], [{ writev }, odd], [{ writev }, { highWaterMark: 5, ...odd }]]) {
      assert.throws(() => new BatchedWritableStream(...args as [never]), { name: "TypeError", message });
    }
  }
  assert.throws(() => new BatchedWritableStream({ writev }, { maxBatch: 5 } as never), /the strategy has .*"maxBatch"/);
});

it("a sink may have members of its own, of any name if its class has them", async () => {
  class Rows {
    maxBatchSize = 5;
    rows: number[] = [];
    writev(rows: number[]): void {
      this.rows.push(...rows);
    }
  }
  const literal = {
    closed: false,
    aborted: false,
    retries: 0,
    maxBatch: 7,
    maxBatches: 7,
    rows: [],
    writev: Rows.prototype.writev,
  };
  for (const sink of [new Rows(), literal]) {
    await new BatchedWritableStream<number>(sink, new CountQueuingStrategy({ highWaterMark: 5 })).getWriter().write(1);
    assert.deepEqual(sink.rows, [1]);
  }
});

it("a writev() that throws away what it is given holds back nothing", async () => {
  const stream = new BatchedWritableStream<number>({ writev: () => 5 as never }, { highWaterMark: 2 });
  await ReadableStream.from(range(1, 100)).pipeTo(stream);
});

/** A sink that notes of each batch whether it is the last. */
class Lasts extends ManualSink {
  readonly lasts: boolean[] = [];

  override writev(
    chunks: number[],
    controller: WritableStreamDefaultController,
    isLast = false,
  ): Promise<void> | undefined {
    assert.equal(this.lasts.includes(true), false, "a batch after the last");
    this.lasts.push(isLast);
    return super.writev(chunks, controller);
  }
}

it("a batch is known to be the last if the stream is closing as it goes to the sink", async () => {
  const sink = new Lasts({ holds: [], maxBatch: 2 });
  const writer = new BatchedWritableStream<number>(sink).getWriter();
  void writer.write(0);
  await turn();
  for (const number of range(1, 5)) void writer.write(number);
  await writer.close();
  assert.deepEqual(sink.log, ["start", "writev 0", "writev 1,2", "writev 3,4", "writev 5", "close"]);
  assert.deepEqual(sink.lasts, [false, false, false, true]);
});

it("a batch is known to be the last of a pipe that will close the stream, and of no other pipe", async () => {
  for (const preventClose of [false, true]) {
    const sink = new Lasts({ holds: [], maxBatch: 60 });
    const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 70 });
    await ourSources["that waits for a turn now and then"](100).pipeTo(stream, { preventClose: true });
    await ourSources["that is full from the start"](100).pipeTo(stream, { preventClose });
    if (preventClose) {
      const writer = stream.getWriter();
      void writer.write(1);
      await writer.close();
    }
    assert.equal(sink.log.at(-1), "close");
    assert.deepEqual(sink.lasts, sink.lasts.map((_, index) => index === sink.lasts.length - 1));
  }
});

it("no batch is known to be the last of a pipe whose source fails", async () => {
  const sink = new Lasts({ holds: [] });
  const stream = new BatchedWritableStream<number>(sink);
  let controller: ReadableStreamDefaultController<number> = undefined as never;
  const source = new ReadableStream<number>({ start: (given) => void (controller = given as never) });
  const piped = source.pipeTo(stream, { preventAbort: true });
  controller.enqueue(1);
  await turn();
  controller.enqueue(2);
  await Promise.resolve();
  controller.error(new Error("boom"));
  await assert.rejects(piped, new Error("boom"));
  await stream.close();
  assert.equal(sink.log.at(-1), "close");
  assert.ok(!sink.lasts.includes(true));
});
