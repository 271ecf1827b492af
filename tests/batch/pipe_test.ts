import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { pipeTo, ReadableStream, toNative } from "../../lib/streams/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { nativeSources, type NumberSource, ourSources } from "./number_sources.ts";
import { microtasks, Outcomes, range, statusOf, turn } from "./progress.ts";
import { paces, SlowSink } from "./slow_sink.ts";

type Pipe = (
  source: globalThis.ReadableStream<number>,
  destination: globalThis.WritableStream<number>,
  options?: StreamPipeOptions,
) => Promise<void>;

const byMethod: Pipe = (source, destination, options) => source.pipeTo(destination, options);
const toNativeSide: Pipe = (source, destination, options) => source.pipeTo(toNative(destination), options);

const ways: readonly { name: string; sources: Readonly<Record<string, NumberSource>>; pipe: Pipe }[] = [
  { name: "our pipeTo()", sources: ourSources, pipe: byMethod },
  { name: "the native pipeTo()", sources: nativeSources, pipe: byMethod },
  { name: "our pipeTo(), of a native source,", sources: nativeSources, pipe: pipeTo },
  { name: "our pipeTo(), into toNative(),", sources: ourSources, pipe: toNativeSide },
  { name: "the native pipeTo(), into toNative(),", sources: nativeSources, pipe: toNativeSide },
];

const limits: readonly { highWaterMark: number; maxBatch?: number }[] = [
  { highWaterMark: 1 },
  { highWaterMark: 7 },
  { highWaterMark: 64, maxBatch: 5 },
  { highWaterMark: 1024 },
  { highWaterMark: Infinity, maxBatch: 100 },
];

for (const { name, sources, pipe } of ways) {
  for (const [what, source] of Object.entries(sources)) {
    it(`${name} brings everything of a source ${what}, in batches within the limits`, async () => {
      for (const pace of paces) {
        for (const { highWaterMark, maxBatch } of limits) {
          const sink = new SlowSink(pace, maxBatch);
          await pipe(source(120), new BatchedWritableStream(sink, { highWaterMark }));
          const context = `${pace}, ${highWaterMark}, ${maxBatch}`;
          assert.deepEqual(sink.numbers, range(1, 120), context);
          assert.ok(sink.largestBatch <= Math.min(highWaterMark, maxBatch ?? Infinity), context);
          assert.ok(sink.batches.every(({ length }) => length > 0), context);
          assert.deepEqual(sink.ends, ["close"], context);
        }
      }
    });
  }
}

it("our pipeTo() passes on a whole run of buffered chunks in one batch", async () => {
  const sink = new ManualSink({ holds: [] });
  await ourSources["that is full from the start"](1000).pipeTo(new BatchedWritableStream<number>(sink));
  assert.deepEqual(sink.batches, [range(1, 1000)]);
});

it("our pipeTo() fills what room a batch has left, and no more", async () => {
  const sink = new ManualSink();
  const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 10 });
  const writer = stream.getWriter();
  const outcomes = new Outcomes();
  outcomes.write(writer, -3, -1);
  writer.releaseLock();
  outcomes.watch("pipe", ourSources["that is full from the start"](20).pipeTo(stream));
  await turn();
  assert.deepEqual(sink.batches, [[-3, -2, -1, ...range(1, 7)]]);
  sink.succeed();
  await turn();
  assert.deepEqual(sink.batches[1], range(8, 17));
  assert.deepEqual(outcomes.all, { fulfilled: "-3 -2 -1", pending: "pipe" });
  sink.succeed();
  await microtasks();
  assert.deepEqual(sink.batches[2], range(18, 20));
  sink.succeed();
  await turn();
  assert.equal(outcomes.of("pipe"), "fulfilled");
  assert.equal(sink.log.at(-1), "close");
});

it("the last batch of a pipe is written as the source closes, before the turn ends", async () => {
  for (const options of [{}, { preventClose: true }]) {
    const sink = new ManualSink();
    const stream = new BatchedWritableStream<number>(sink);
    let controller: ReadableStreamDefaultController<number> = undefined as never;
    const source = new ReadableStream<number>({ start: (given) => void (controller = given as never) });
    const piped = source.pipeTo(stream, options);
    await turn();
    controller.enqueue(1);
    controller.enqueue(2);
    await microtasks();
    assert.deepEqual(sink.log, ["start"]);
    controller.close();
    await microtasks();
    assert.deepEqual(sink.log, ["start", "writev 1,2"]);
    assert.equal(await statusOf(piped), "pending");
    sink.succeed();
    await piped;
    assert.deepEqual(sink.log.slice(2), options.preventClose ? [] : ["close"]);
  }
});

it("the last batch of a pipe is written as the source fails, before the turn ends", async () => {
  const sink = new ManualSink();
  const stream = new BatchedWritableStream<number>(sink);
  let controller: ReadableStreamDefaultController<number> = undefined as never;
  const source = new ReadableStream<number>({ start: (given) => void (controller = given as never) });
  const outcomes = new Outcomes();
  outcomes.watch("pipe", source.pipeTo(stream));
  await turn();
  controller.enqueue(1);
  await microtasks();
  controller.error(new Error("boom"));
  await microtasks();
  assert.deepEqual(sink.log, ["start", "writev 1"]);
  assert.deepEqual(outcomes.all, { pending: "pipe" });
  sink.succeed();
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1", "abort Error: boom"]);
  assert.deepEqual(outcomes.all, { "rejected: Error: boom": "pipe" });
});

it("a lone chunk of a pipe reaches the sink as the turn ends", async () => {
  const sink = new ManualSink();
  const source = new ReadableStream<number>({ start: (controller) => controller.enqueue(1) });
  source.pipeTo(new BatchedWritableStream<number>(sink)).catch(() => {});
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1"]);
});

for (const { name, sources, pipe } of ways.filter(({ pipe }) => pipe !== toNativeSide)) { // which locks permanently
  it(`pipes by ${name} one after the other, with preventClose, and writers between them, keep the order`, async () => {
    const sink = new SlowSink("in a turn", 40);
    const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 50 });
    const expected: number[] = [];
    for (const source of Object.values(sources)) {
      const writer = stream.getWriter();
      writer.write(-1).catch(() => {});
      writer.write(-2).catch(() => {});
      writer.releaseLock();
      await pipe(source(99), stream, { preventClose: true });
      assert.equal(stream.locked, false);
      expected.push(-1, -2, ...range(1, 99));
    }
    await stream.close();
    assert.deepEqual(sink.numbers, expected);
    assert.deepEqual(sink.ends, ["close"]);
  });
}

it("our pipeTo() with preventClose settles when all is acknowledged", async () => {
  const sink = new ManualSink();
  const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 5 });
  const piped = ourSources["from an array"](7).pipeTo(stream, { preventClose: true });
  await turn();
  sink.succeed();
  await turn();
  assert.deepEqual(sink.log, ["start", "writev 1,2,3,4,5", "writev 6,7"]);
  assert.equal(await statusOf(piped), "pending");
  sink.succeed();
  await piped;
});

it("a stream behind toNative(): what a native writer writes arrives, in order, and then the close", async () => {
  for (const pace of paces) {
    const sink = new SlowSink(pace, 30);
    const writer = toNative(new BatchedWritableStream<number>(sink, { highWaterMark: 64 })).getWriter();
    for (const number of range(1, 500)) {
      await writer.ready;
      void writer.write(number);
    }
    await writer.close();
    assert.deepEqual(sink.numbers, range(1, 500));
    assert.ok(sink.largestBatch <= 30);
    assert.deepEqual(sink.ends, ["close"]);
  }
});
