import assert from "node:assert/strict";
import test from "node:test";
import { WritableStream } from "../../lib/streams/mod.ts";

const { WritableStream: NativeWritableStream } = globalThis;
const { getWriter } = NativeWritableStream.prototype;

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
      // Not checked: the native side is closing already, which makes its abort fail.
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
