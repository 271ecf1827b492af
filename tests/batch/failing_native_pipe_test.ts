import assert from "node:assert/strict";
import { it } from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { pipeTo, ReadableStream, toNative } from "../../lib/streams/mod.ts";
import { range, turn, turns } from "./progress.ts";

type Source = globalThis.ReadableStream<number>;
type Destination = globalThis.WritableStream<number>;

/** Pipes in which one side is the runtime's. */
const ways: Readonly<
  Record<string, (source: Source, destination: Destination, signal?: AbortSignal) => Promise<void>>
> = {
  "the native pipeTo()": (source, destination, signal) => source.pipeTo(destination, { signal }),
  "the native pipeTo(), into toNative(),": (source, destination, signal) =>
    source.pipeTo(toNative(destination), { signal }),
  "our pipeTo() of a native source": (source, destination, signal) => pipeTo(source, destination, { signal }),
  "our pipeTo(), into toNative(),": (source, destination, signal) =>
    pipeTo(source.pipeThrough(new globalThis.TransformStream<number, number>()), toNative(destination), { signal }),
  "our pipeTo() of a source of ours, into toNative(),": (source, destination, signal) =>
    ReadableStream.from(source).pipeTo(toNative(destination), { signal }),
};

/** Returns a native source of numbers without end, or one that fails after some. */
function numbers(cancelled: unknown[], failsAfter = Infinity): Source {
  let last = 0;
  return new globalThis.ReadableStream<number>({
    async pull(controller): Promise<void> {
      if (last % 10 === 0) await turn();
      if (last === failsAfter) controller.error(new Error("source"));
      else controller.enqueue(++last);
    },
    cancel: (reason) => void cancelled.push(String(reason)),
  });
}

/** A sink that fails in one of its batches. */
class Sink {
  readonly calls: string[] = [];
  readonly written: number[] = [];
  readonly maxBatch = 8;
  readonly #failsIn: number;
  #batches = 0;

  constructor(failsIn = Infinity) {
    this.#failsIn = failsIn;
  }
  async writev(chunks: number[]): Promise<void> {
    const fails = ++this.#batches === this.#failsIn;
    await turn();
    if (fails) throw new Error("sink");
    this.written.push(...chunks);
  }
  close(): void {
    this.calls.push("close");
  }
  abort(reason: unknown): void {
    this.calls.push(`abort ${reason}`);
  }
}

for (const [name, pipe] of Object.entries(ways)) {
  it(`a sink that fails ends ${name} with its error, cancels the source, and is not called again`, async () => {
    const cancelled: unknown[] = [];
    const sink = new Sink(3);
    const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 20 });
    await assert.rejects(pipe(numbers(cancelled), stream), new Error("sink"));
    await turns();
    assert.deepEqual(sink.written, range(1, sink.written.length));
    assert.ok(sink.written.length > 0 && sink.written.length <= 16);
    assert.deepEqual(sink.calls, []);
    assert.deepEqual(cancelled, ["Error: sink"]);
  });

  it(`a source that fails ends ${name} with its error, and aborts the sink once`, async () => {
    for (const failsAfter of [0, 1, 25]) {
      const sink = new Sink();
      const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 20 });
      await assert.rejects(pipe(numbers([], failsAfter), stream), new Error("source"));
      await turns();
      assert.deepEqual(sink.written, range(1, sink.written.length));
      assert.deepEqual(sink.calls, ["abort Error: source"]);
    }
  });

  it(`a signal ends ${name} with its reason, and aborts the sink once`, async () => {
    for (const after of [0, 1, 5, 20]) {
      const cancelled: unknown[] = [];
      const sink = new Sink();
      const abort = new AbortController();
      const stream = new BatchedWritableStream<number>(sink, { highWaterMark: 20 });
      const piped = pipe(numbers(cancelled), stream, abort.signal);
      await turns(after);
      abort.abort(new Error("signal"));
      await assert.rejects(piped, new Error("signal"));
      await turns();
      assert.deepEqual(sink.written, range(1, sink.written.length));
      assert.deepEqual(sink.calls, ["abort Error: signal"]);
      const { length } = sink.written;
      await turns();
      assert.equal(sink.written.length, length);
    }
  });
}
