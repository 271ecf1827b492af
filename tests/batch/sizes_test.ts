import assert from "node:assert/strict";
import { it } from "node:test";
import { type BatchedUnderlyingSink, BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ByteLengthQueuingStrategy, ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { ManualSink } from "./manual_sink.ts";
import { Outcomes, turn } from "./progress.ts";

it("fractional sizes, and sizes of 0, count as they are", async () => {
  const sink = new ManualSink({ maxBatch: 1 });
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 2, size: (chunk) => chunk! }).getWriter();
  for (const size of [0.25, 0.5, 0, 0.25, 0.125, 0]) void writer.write(size);
  assert.equal(writer.desiredSize, 0.875);
  await turn();
  assert.deepEqual(sink.batches, [[0.25, 0.5, 0, 0.25]]);
  sink.succeed();
  await turn();
  assert.equal(writer.desiredSize, 1.875);
  assert.deepEqual(sink.batches[1], [0.125, 0]);
  sink.succeed();
  await turn();
  assert.equal(writer.desiredSize, 2);
});

it("what size() returns is converted to a number, and size() called once a chunk, in order, without this", async () => {
  const calls: unknown[] = [];
  const size = function (this: unknown, ...args: unknown[]): number {
    calls.push(this, ...args);
    return { valueOf: () => 2 } as unknown as number;
  };
  const writer = new BatchedWritableStream<string>(undefined, { highWaterMark: 10, size }).getWriter();
  void writer.write("a");
  void writer.write("b");
  assert.equal(writer.desiredSize, 6);
  await writer.close();
  assert.deepEqual(calls, [undefined, "a", undefined, "b"]);
});

/** Size functions that fail or return an invalid size for the chunk "bad". */
const badSizes: Readonly<Record<string, () => unknown>> = {
  "NaN": () => NaN,
  "a negative number": () => -1,
  "Infinity": () => Infinity,
  "-Infinity": () => -Infinity,
  "no number": () => undefined,
  "a BigInt": () => 1n,
  "a symbol": () => Symbol("size"),
  "an error": () => {
    throw new Error("size");
  },
};

type Class = new (
  sink: BatchedUnderlyingSink<string>,
  strategy: QueuingStrategy<string>,
) => globalThis.WritableStream<string>;

/** Everything that can be seen of a stream whose size() goes wrong for one of three chunks. */
async function observe(stream: Class, size: () => unknown, turnsBefore: number): Promise<unknown> {
  const calls: string[] = [];
  const called = (call: string) => (): void => void calls.push(call);
  const sink = { writev: called("write"), write: called("write"), close: called("close"), abort: called("abort") };
  const strategy = { highWaterMark: 10, size: (chunk?: string) => chunk === "bad" ? size() as number : 1 };
  const writer = new stream(sink, strategy).getWriter();
  for (let turns = 0; turns < turnsBefore; turns++) await turn();
  const outcomes: string[] = [];
  const watch = (promise: Promise<unknown>): void => {
    const index = outcomes.push("pending") - 1;
    promise.then(() => outcomes[index] = "fulfilled", (error) => outcomes[index] = error.name);
  };
  const sizes: unknown[] = [];
  for (const chunk of ["good", "bad", "good"]) {
    watch(writer.write(chunk));
    sizes.push(writer.desiredSize);
  }
  watch(writer.ready);
  watch(writer.closed);
  watch(writer.close());
  await turn();
  return { calls, outcomes, sizes };
}

for (const [what, size] of Object.entries(badSizes)) {
  it(`a size() that gives ${what} errors the stream, as it does a plain one`, async () => {
    const plain = await observe(WritableStream, size, 0) as { outcomes: string[]; sizes: unknown[] };
    assert.deepEqual(await observe(BatchedWritableStream, size, 0), plain);
    assert.equal(plain.sizes[1], null);
    // The first chunk is in flight in a plain stream by then, and waits for the turn to end in a batched one.
    const later = await observe(BatchedWritableStream, size, 1) as { calls: string[]; outcomes: string[] };
    assert.deepEqual(later.calls, []);
    assert.deepEqual(later.outcomes.slice(0, 5), plain.outcomes.slice(0, 5));
  });

  it(`a size() that gives ${what} ends a pipe, and nothing is written after it`, async () => {
    for (const highWaterMark of [0, 16]) {
      const sink = new ManualSink<string>({ holds: [] });
      const stream = new BatchedWritableStream<string>(sink, {
        highWaterMark: 10,
        size: (chunk) => chunk === "bad" ? size() as number : 1,
      });
      const chunks = ["good", "bad", "good"];
      let reason: unknown;
      const source = new ReadableStream<string>({
        pull: (controller) => controller.enqueue(chunks.shift() ?? "more"),
        cancel: (why) => void (reason = why),
      }, { highWaterMark });
      const error: unknown = await source.pipeTo(stream).then(() => "no error", (why) => why);
      assert.ok(error instanceof Error);
      assert.equal(reason, error);
      assert.ok(sink.batches.flat().every((chunk) => chunk === "good"));
      assert.ok(sink.log.every((call) => !call.startsWith("abort") && call !== "close"));
    }
  });
}

it("a size that is none rejects what waits in the queue and lets a batch in flight end", async () => {
  const sink = new ManualSink();
  const writer = new BatchedWritableStream<number>(sink, { highWaterMark: 10, size: (chunk) => chunk! }).getWriter();
  const outcomes = new Outcomes();
  outcomes.write(writer, 1, 2);
  await turn();
  outcomes.write(writer, 3, 3);
  outcomes.watch("bad", writer.write(NaN));
  assert.equal(writer.desiredSize, null);
  sink.succeed();
  await turn();
  const range = "rejected: RangeError: the size of a chunk must be a finite number of at least 0, not NaN";
  assert.deepEqual(outcomes.all, { fulfilled: "1 2", [range]: "3 bad" });
  assert.deepEqual(sink.log, ["start", "writev 1,2"]);
});

it("a chunk without byteLength errors a stream that counts bytes", async () => {
  const sink = new ManualSink<unknown>();
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: 10 }) as QueuingStrategy<unknown>;
  const writer = new BatchedWritableStream<unknown>(sink, strategy).getWriter();
  await assert.rejects(writer.write("text"), RangeError);
  await assert.rejects(writer.write(null), RangeError);
  assert.deepEqual(sink.log, ["start"]);
});

/** Size functions that act on their own stream, by action. */
const reentrant: Readonly<Record<string, (writer: WritableStreamDefaultWriter<number>, sink: ManualSink) => unknown>> =
  {
    "writes": (writer) => writer.write(0),
    "closes": (writer) => writer.close(),
    "aborts": (writer) => writer.abort(new Error("aborted")),
    "errors": (_, sink) => sink.controller.error(new Error("errored")),
    "releases the writer": (writer) => writer.releaseLock(),
  };

for (const [what, act] of Object.entries(reentrant)) {
  it(`a size() that ${what} loses nothing that was accepted, and writes nothing twice`, async () => {
    let writer: WritableStreamDefaultWriter<number> | undefined = undefined;
    const sink = new ManualSink({ holds: [] });
    let acts = true;
    const stream = new BatchedWritableStream<number>(sink, {
      highWaterMark: 10,
      size(chunk): number {
        if (chunk !== 2 || !acts) return 1;
        acts = false;
        const result = act(writer!, sink);
        if (result instanceof Promise) result.catch(() => {});
        return 1;
      },
    });
    writer = stream.getWriter();
    const written: (number | undefined)[] = await Promise.all(
      [1, 2, 3].map((number) => writer!.write(number).then(() => number, () => undefined)),
    );
    await turn();
    const accepted = written.filter((number) => number !== undefined);
    assert.deepEqual(sink.batches.flat().filter((number) => number !== 0), accepted);
    if (what === "writes") assert.deepEqual(sink.batches, [[1, 0, 2, 3]]);
    else if (what === "closes" || what === "releases the writer") assert.deepEqual(accepted, [1]);
    else assert.deepEqual(accepted, []);
  });
}
