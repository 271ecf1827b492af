import assert from "node:assert/strict";
import test from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream, toNative, WritableStream } from "../../lib/streams/mod.ts";

const { WritableStream: NativeWritableStream } = globalThis;
const { close, getWriter } = NativeWritableStream.prototype;

type Controller = globalThis.WritableStreamDefaultController;

/** The events of a stream's native writer and of its sink, in order. */
class Events {
  readonly seen: string[] = [];
  /** Settle the last write, close or start that waits. */
  settle: () => void = () => {};
  fail: (error: Error) => void = () => {};
  controller!: Controller;

  watch(name: string, promise: Promise<unknown>): void {
    promise.then(() => this.seen.push(`${name} ok`), (error) => {
      this.seen.push(`${name}: ${error instanceof Error ? error.message : error}`);
    });
  }

  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
    });
  }

  /** Waits until all pending work has run, and notes `event`. */
  async turn(event: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.seen.push(event);
  }
}

interface Scenario {
  readonly strategy?: QueuingStrategy;
  sink(events: Events): UnderlyingSink<string>;
  run(events: Events, writer: WritableStreamDefaultWriter<string>): Promise<void>;
}

/** Returns a sink whose writes end when the scenario says, and which says that it was aborted. */
function slow(events: Events): UnderlyingSink<string> {
  return {
    start: (controller) => void (events.controller = controller),
    write: (chunk) => (events.seen.push(`sink ${chunk}`), events.wait()),
    close: () => void events.seen.push("sink closes"),
    abort: (reason) => void events.seen.push(`sink aborts: ${reason}`),
  };
}

function watchingSignal(events: Events): UnderlyingSink<string> {
  return {
    ...slow(events),
    start(controller) {
      events.controller = controller;
      controller.signal.addEventListener("abort", () => events.seen.push(`signal: ${controller.signal.reason}`));
    },
  };
}

const twoWrites: Scenario["run"] = async (events, writer) => {
  events.watch("a", writer.write("a"));
  events.watch("b", writer.write("b"));
  await events.turn("first");
  events.settle();
  await events.turn("second");
  events.settle();
  events.watch("close", writer.close());
};

type Writer = Parameters<Scenario["run"]>[1];

/** Aborts after `begin`, and finishes the sink's current call some turns later. */
async function abortBehind(events: Events, writer: Writer, begin: () => void): Promise<void> {
  begin();
  await events.turn("before");
  events.watch("abort", writer.abort("enough"));
  await events.turn("after");
}

const abort: Scenario["run"] = (events, writer) =>
  abortBehind(events, writer, () => events.watch("a", writer.write("a")));

const abortThenSettle: Scenario["run"] = async (events, writer) => {
  await abort(events, writer);
  events.settle();
};

/** The writes are not watched: their order of failing is the native side's own. */
const abortQueued: Scenario["run"] = async (events, writer) => {
  await abortBehind(events, writer, () => ["a", "b", "c"].forEach((chunk) => void writer.write(chunk).catch(() => {})));
  events.settle();
};

const scenarios: Readonly<Record<string, Scenario>> = {
  "two writes that take time": { sink: slow, run: twoWrites },
  "two writes to a stream that never has room": { sink: slow, run: twoWrites, strategy: { highWaterMark: 0 } },
  "two writes of a size to a stream that never has room": {
    sink: slow,
    run: twoWrites,
    strategy: { highWaterMark: 0, size: () => 2 },
  },
  "a write that ends at once, where there is never room": {
    sink: (events) => ({ write: (chunk) => void events.seen.push(`sink ${chunk}`) }),
    strategy: { highWaterMark: 0 },
    run: (events, writer) => Promise.resolve(events.watch("a", writer.write("a"))),
  },
  "a write that fails": {
    sink: slow,
    async run(events, writer) {
      events.watch("a", writer.write("a"));
      events.watch("b", writer.write("b"));
      await events.turn("before");
      events.fail(new Error("failed"));
    },
  },
  "an error of the controller during a write": {
    sink: slow,
    async run(events, writer) {
      events.watch("a", writer.write("a"));
      await events.turn("before");
      events.controller.error(new Error("of the controller"));
      await events.turn("after");
      events.settle();
    },
  },
  "an error of the controller during a write, which then fails": {
    sink: slow,
    async run(events, writer) {
      events.watch("a", writer.write("a"));
      await events.turn("before");
      events.controller.error(new Error("of the controller"));
      await events.turn("after");
      events.fail(new Error("late"));
    },
  },
  "an error of the controller in a write": {
    sink: (events) => ({ ...slow(events), write: () => events.controller.error(new Error("of the controller")) }),
    run: (events, writer) => Promise.resolve(events.watch("a", writer.write("a"))),
  },
  "an abort during a write": {
    sink: slow,
    run: abortThenSettle,
  },
  "an abort during a write, with chunks behind it": {
    sink: slow,
    strategy: { highWaterMark: 2 },
    run: abortQueued,
  },
  "an abort during a write of a size, with chunks behind it": {
    sink: slow,
    strategy: { highWaterMark: 1, size: () => 0.5 },
    run: abortQueued,
  },
  "an abort before it has started, with a chunk that waits": {
    sink: (events) => ({ ...slow(events), start: () => events.wait() }),
    async run(events, writer) {
      await abortBehind(events, writer, () => writer.write("a").catch(() => {}));
      events.settle();
    },
  },
  "an abort during a write, with a close behind it": {
    sink: slow,
    strategy: { highWaterMark: 3 },
    async run(events, writer) {
      writer.write("a").catch(() => {});
      await events.turn("before");
      events.watch("close", writer.close());
      await events.turn("closing");
      // Not watched: to the native side the close is under way already, with which its abort fails.
      writer.abort("enough").catch(() => {});
      await events.turn("after");
      events.settle();
    },
  },
  "an abort during a write, which then fails": {
    sink: slow,
    async run(events, writer) {
      await abort(events, writer);
      events.fail(new Error("late"));
    },
  },
  "an abort that takes time, after a write that failed": {
    sink: (events) => ({ ...slow(events), abort: () => (events.seen.push("sink aborts"), events.wait()) }),
    async run(events, writer) {
      await abort(events, writer);
      events.fail(new Error("late"));
      await events.turn("aborting");
      events.settle();
    },
  },
  "an abort during a write, for which the sink's signal is watched": {
    sink: watchingSignal,
    run: abortThenSettle,
  },
  "an abort during a write that waits for the signal": {
    sink: (events) => ({
      ...watchingSignal(events),
      write: () =>
        new Promise((_resolve, reject) => {
          events.controller.signal.addEventListener("abort", () => reject(new Error("let go")));
        }),
    }),
    run: abort,
  },
  "an abort with nothing in flight, with a watched signal": {
    sink: (events) => ({ ...watchingSignal(events), write: () => {} }),
    run: abort,
  },
  "an abort in which the controller errors": {
    sink: (events) => ({
      ...slow(events),
      start(controller) {
        controller.signal.addEventListener("abort", () => controller.error(new Error("of the controller")));
      },
      write: () => {},
    }),
    run: abort,
  },
  "an abort while it closes, with a watched signal": {
    sink: (events) => ({ ...watchingSignal(events), close: () => events.wait() }),
    async run(events, writer) {
      await abortBehind(events, writer, () => events.watch("close", writer.close()));
      events.settle();
    },
  },
  "an abort while it closes, which then fails, with a watched signal": {
    sink: (events) => ({ ...watchingSignal(events), close: () => events.wait() }),
    async run(events, writer) {
      await abortBehind(events, writer, () => events.watch("close", writer.close()));
      events.fail(new Error("late"));
    },
  },
  "a write of a value, and one that throws": {
    sink: (events) => ({
      ...slow(events),
      write(chunk): never {
        if (chunk === "b") throw new Error("thrown");
        return 1 as never;
      },
    }),
    async run(events, writer) {
      events.watch("a", writer.write("a"));
      events.watch("b", writer.write("b"));
      await events.turn("after");
      events.watch("abort", writer.abort("enough"));
    },
  },
  "an abort while it closes, after which the signal is looked at": {
    sink: (events) => ({ ...slow(events), close: () => events.wait() }),
    async run(events, writer) {
      events.watch("close", writer.close());
      await events.turn("before");
      events.watch("abort", writer.abort("enough"));
      await events.turn(`aborted: ${events.controller.signal.aborted}`);
      events.settle();
    },
  },
  "an abort before it has started": {
    sink: (events) => ({
      ...slow(events),
      start(controller) {
        void watchingSignal(events).start!(controller);
        return events.wait();
      },
    }),
    run: abortThenSettle,
  },
};

async function happenings(Stream: typeof NativeWritableStream, { sink, strategy, run }: Scenario): Promise<string[]> {
  const events = new Events();
  const writer = getWriter.call(new Stream(sink(events), strategy)) as WritableStreamDefaultWriter<string>;
  events.watch("closed", writer.closed);
  await run(events, writer);
  for (let turns = 0; turns < 3; turns++) await events.turn("turn");
  return events.seen;
}

for (const [name, scenario] of Object.entries(scenarios)) {
  test(`a native writer sees of a stream of ours what it sees of a native one: ${name}`, async () => {
    const ours = await happenings(WritableStream as unknown as typeof NativeWritableStream, scenario);
    assert.deepEqual(ours, await happenings(NativeWritableStream, scenario));
  });
}

/** Writes by a native writer, which is released at once, and returns how the writes end. */
function leave<T>(stream: WritableStream<T>, chunks: readonly T[]): Promise<string[]> {
  const writer = getWriter.call(stream) as WritableStreamDefaultWriter<T>;
  const written = endsOf(writer, chunks);
  writer.releaseLock();
  return written;
}

function endsOf<T>(writer: WritableStreamDefaultWriter<T>, chunks: readonly T[]): Promise<string[]> {
  for (const promise of [writer.closed, writer.ready]) promise.catch(() => {});
  return Promise.all(chunks.map((chunk) => writer.write(chunk).then(() => "written", (error) => error.message)));
}

const successors: Readonly<Record<string, (stream: WritableStream<number>) => Promise<unknown>>> = {
  "close()": (stream) => stream.close(),
  "a native close()": (stream) => close.call(stream),
  "another writer": async (stream) => {
    const writer = stream.getWriter();
    await writer.write(4);
    await writer.close();
  },
  "another native writer": async (stream) => {
    const writer = getWriter.call(stream) as WritableStreamDefaultWriter<number>;
    await writer.write(4);
    await writer.close();
  },
  "a pipe": (stream) => ReadableStream.from([4, 5]).pipeTo(stream),
  "two pipes": async (stream) => {
    await ReadableStream.from([4, 5]).pipeTo(stream, { preventClose: true });
    await ReadableStream.from([6]).pipeTo(stream);
  },
};

for (const [name, succeed] of Object.entries(successors)) {
  for (const highWaterMark of [1, 4]) {
    test(`what a native writer has left in a stream of mark ${highWaterMark} comes before ${name}`, async () => {
      const got: number[] = [];
      const stream = new WritableStream<number>({
        async write(chunk) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          got.push(chunk);
        },
      }, { highWaterMark });
      const written = leave(stream, [1, 2, 3]);
      await succeed(stream);
      assert.deepEqual(got, [1, 2, 3, 4, 5, 6].slice(0, got.length));
      assert.ok(got.length >= 3);
      assert.deepEqual(await written, ["written", "written", "written"]);
    });
  }
}

test("abort() drops what a native writer has left; a write that the sink has begun ends", async () => {
  const got: number[] = [];
  let settle: () => void = () => {};
  const stream = new WritableStream<number>({
    write: (chunk) => (got.push(chunk), new Promise<void>((resolve) => settle = resolve)),
  });
  const writer = getWriter.call(stream) as WritableStreamDefaultWriter<number>;
  await new Promise((resolve) => setTimeout(resolve, 1)); // until the native side has started
  const written = endsOf(writer, [1, 2]);
  writer.releaseLock();
  const aborted = stream.abort(new Error("enough"));
  settle();
  await aborted;
  assert.deepEqual(got, [1]);
  assert.deepEqual(await written, ["written", "enough"]);
});

/** The ends of three writes, the first of which the sink fails; by a native writer of the stream and by toNative(). */
const writers: Readonly<Record<string, (stream: WritableStream<number>) => WritableStreamDefaultWriter<number>>> = {
  "a native writer": (stream) => getWriter.call(stream) as WritableStreamDefaultWriter<number>,
  "toNative()": (stream) => toNative<number>(stream).getWriter(),
};

for (const [name, writerOf] of Object.entries(writers)) {
  test(`${name}: write() is fulfilled when the sink has written the chunk, and not when there is room`, async () => {
    const fail = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      throw new Error("full");
    };
    const streams: Record<string, WritableStream<number>> = {
      chunks: new WritableStream<number>({ write: fail }, { highWaterMark: 4 }),
      sizes: new WritableStream<number>({ write: fail }, { highWaterMark: 9, size: (chunk) => chunk }),
      batches: new BatchedWritableStream<number>({ writev: fail }),
      "small batches": new BatchedWritableStream<number>({ writev: fail, maxBatch: 1 }),
    };
    for (const [kind, stream] of Object.entries(streams)) {
      assert.deepEqual(await endsOf<number>(writerOf(stream), [1, 2, 3]), ["full", "full", "full"], kind);
    }
  });

  test(`${name}: chunks that are not waited for share a batch`, async () => {
    const batches: number[][] = [];
    const stream = new BatchedWritableStream<number>({ writev: (batch) => void batches.push(batch) });
    const chunks = Array.from({ length: 100 }, (_, i) => i);
    assert.deepEqual(await endsOf(writerOf(stream), chunks), chunks.map(() => "written"));
    assert.deepEqual(batches.flat(), chunks);
    assert.ok(batches.length <= 2, `${batches.length} batches`);
  });
}

test("a native pipe never writes to a stream of mark 0, and calls the size function once for each chunk", async () => {
  const got: number[] = [];
  const source = new globalThis.ReadableStream<number>({ start: (controller) => controller.enqueue(1) });
  const stopped = new AbortController();
  const stream = new WritableStream<number>({ write: (chunk) => void got.push(chunk) }, { highWaterMark: 0 });
  const piped = source.pipeTo(stream, { signal: stopped.signal });
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(got.length, 0);
  stopped.abort(new Error("enough"));
  await assert.rejects(piped, { message: "enough" });

  const measured: number[] = [];
  const sized = new WritableStream<number>({ write: (chunk) => void got.push(chunk) }, {
    highWaterMark: 5,
    size: (chunk) => (measured.push(chunk), chunk),
  });
  await new globalThis.ReadableStream<number>({
    start(controller) {
      for (let chunk = 1; chunk < 6; chunk++) controller.enqueue(chunk);
      controller.close();
    },
  }).pipeTo(sized);
  assert.deepEqual(got, [1, 2, 3, 4, 5]);
  assert.deepEqual(measured, [1, 2, 3, 4, 5]);
});
