import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream, TransformStream } from "../../lib/streams/mod.ts";
import { currentPause } from "../../lib/streams/shortcuts/task.ts";
import { range, turn } from "./progress.ts";

const ITEMS = 150_000;
const HIGH_WATER_MARK = 4096;

/** A sink that takes some turns for each batch, and counts the items that it has not written yet. */
class Sink {
  produced = 0;
  acknowledged = 0;
  /** The batches that began while no long pipe paused, and their items. */
  readonly ofRuns = { batches: 0, items: 0 };
  most = 0;
  inOrder = true;

  async writev(items: number[]): Promise<void> {
    // After 40 ms, few items on a busy machine, a long pipe lets others have their turn.
    if (currentPause() === 0) {
      this.ofRuns.batches++;
      this.ofRuns.items += items.length;
    }
    for (let index = 0; index < items.length; index++) this.inOrder &&= items[index] === this.acknowledged + index;
    for (let turns = 0; turns < 3; turns++) await turn();
    this.acknowledged += items.length;
  }

  /** Returns the next item of a producer. */
  next(): number {
    const underWay = this.produced - this.acknowledged;
    if (underWay > this.most) this.most = underWay;
    return this.produced++;
  }
}

type Producer = (sink: Sink, stream: BatchedWritableStream<number>) => Promise<void>;

function* itemsOf(sink: Sink): Generator<number> {
  while (sink.produced < ITEMS) yield sink.next();
}

async function* slowItemsOf(sink: Sink): AsyncGenerator<number> {
  while (sink.produced < ITEMS) {
    if (sink.produced % 1000 === 0) await undefined;
    yield sink.next();
  }
}

const producers: Readonly<Record<string, Producer>> = {
  "a writer that waits until it is ready before each write": async (sink, stream) => {
    const writer = stream.getWriter();
    while (sink.produced < ITEMS) {
      await writer.ready;
      void writer.write(sink.next());
    }
    await writer.close();
  },
  "a writer that waits while desiredSize says so": async (sink, stream) => {
    const writer = stream.getWriter();
    while (sink.produced < ITEMS) {
      if (writer.desiredSize! <= 0) await writer.ready;
      void writer.write(sink.next());
    }
    await writer.close();
  },
  "a pipe of a stream that enqueues an item for each pull()": (sink, stream) =>
    new ReadableStream<number>({
      pull(controller): void {
        if (sink.produced < ITEMS) controller.enqueue(sink.next());
        else controller.close();
      },
    }).pipeTo(stream),
  "a pipe of a generator": (sink, stream) => ReadableStream.from(itemsOf(sink)).pipeTo(stream),
  "a pipe of an async generator": (sink, stream) => ReadableStream.from(slowItemsOf(sink)).pipeTo(stream),
  "a pipe through a transform that makes many items of one": (sink, stream) =>
    ReadableStream.from(range(1, ITEMS / 100)).pipeThrough(
      new TransformStream<number, number>({
        transform(_, controller): void {
          for (let left = 100; left > 0; left--) controller.enqueue(sink.next());
        },
      }),
    ).pipeTo(stream),
  "the native pipeTo()": (sink, stream) =>
    new globalThis.ReadableStream<number>({
      pull(controller): void {
        if (sink.produced < ITEMS) controller.enqueue(sink.next());
        else controller.close();
      },
    }).pipeTo(stream),
};

/** The limit of chunks in transit to the stream: in queues of pipes and transforms, or enqueued by one pull(). */
const ON_ITS_WAY = 110;

for (const [name, produce] of Object.entries(producers)) {
  it(`${name} fills the batches of a slower sink, and never more than the high-water mark is under way`, async () => {
    const sink = new Sink();
    await produce(sink, new BatchedWritableStream<number>(sink, { highWaterMark: HIGH_WATER_MARK }));
    assert.equal(sink.acknowledged, ITEMS);
    assert.ok(sink.inOrder);
    const { items, batches } = sink.ofRuns;
    assert.ok(items >= batches * HIGH_WATER_MARK * 0.9, `${items} items in ${batches} batches`);
    assert.ok(sink.most <= HIGH_WATER_MARK + (name.startsWith("a writer") ? 0 : ON_ITS_WAY), `${sink.most} under way`);
  });
}

it("of a producer that gives some items a turn, two batches in a row carry a full queue", async () => {
  const batches: number[] = [];
  const stream = new BatchedWritableStream<number>({
    async writev(items): Promise<void> {
      batches.push(items.length);
      for (let turns = 0; turns < 60; turns++) await turn();
    },
  }, { highWaterMark: HIGH_WATER_MARK });
  const writer = stream.getWriter();
  for (let item = 0; item < 50_000; item++) {
    if (item % 100 === 0) await turn();
    if (writer.desiredSize! <= 0) await writer.ready;
    void writer.write(item);
  }
  await writer.close();
  const pairs = batches.slice(0, -2).map((length, index) => length + batches[index + 1]);
  assert.ok(pairs.length >= 10);
  assert.ok(pairs.every((sum) => sum >= 4000), String(batches));
});
