import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import {
  type PipeCounts,
  pipeThrough,
  pipeTo,
  ReadableStream as Ours,
  TransformStream,
  WritableStream as OurWritable,
} from "../../lib/streams/mod.ts";
import { tries } from "../support/long_run.ts";

const none = (): PipeCounts => ({ chunksRead: 0, chunksWritten: 0 });

/** A pipe of numbers, and the chunk at which one of its ends fails. */
interface Program {
  readonly source: "iterable" | "pulled" | "queued" | "native";
  readonly destination: "ours" | "batched" | "native";
  readonly chunks: number;
  readonly highWaterMark: number;
  readonly waits: boolean;
  readonly fails: "source" | "destination" | "signal" | undefined;
  readonly at: number;
}

const programs: fc.Arbitrary<Program> = fc.record({
  source: fc.constantFrom("iterable" as const, "pulled" as const, "queued" as const, "native" as const),
  destination: fc.constantFrom("ours" as const, "batched" as const, "native" as const),
  chunks: fc.constantFrom(0, 1, 7, 200),
  highWaterMark: fc.constantFrom(1, 3, 64),
  waits: fc.boolean(),
  fails: fc.constantFrom(undefined, "source" as const, "destination" as const, "signal" as const),
  at: fc.nat(8),
});

const FAULT = new Error("it fails");

async function run({ source, destination, chunks, highWaterMark, waits, fails, at }: Program): Promise<void> {
  let given = 0;
  const abort = new AbortController();
  function* give(): Generator<number> {
    for (; given < chunks;) {
      if (given === at && fails === "source") throw FAULT;
      if (given === at && fails === "signal") abort.abort(FAULT);
      yield given++;
    }
  }
  const iterator = give();
  const pull = (controller: ReadableStreamDefaultController<number>): void => {
    const { done, value } = iterator.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  const stream = source === "native"
    ? new globalThis.ReadableStream<number>({ pull }, { highWaterMark: 0 })
    : source === "iterable"
    ? Ours.from(iterator)
    : new Ours<number>({ pull }, { highWaterMark: source === "queued" ? 16 : 0 });
  let written = 0;
  const write = (chunk: number): Promise<void> | undefined => {
    if (chunk === at && fails === "destination") throw FAULT;
    written++;
    return waits ? Promise.resolve() : undefined;
  };
  const writable = destination === "native"
    ? new globalThis.WritableStream<number>({ write }, { highWaterMark })
    : destination === "ours"
    ? new OurWritable<number>({ write }, { highWaterMark })
    : new BatchedWritableStream<number>({
      maxBatch: 5,
      writev(batch) {
        if (batch.includes(at) && fails === "destination") throw FAULT;
        written += batch.length;
        return waits ? Promise.resolve() : undefined;
      },
    }, { highWaterMark });
  const counts = none();
  const end = await pipeTo<number>(stream, writable, { counts, signal: abort.signal }).then(() => undefined, (e) => e);
  assert.equal(counts.chunksWritten, written);
  assert.ok(counts.chunksRead >= written && counts.chunksRead <= given);
  assert.equal(end, fails !== undefined && at < chunks ? FAULT : undefined);
  if (end === undefined) assert.deepEqual(counts, { chunksRead: chunks, chunksWritten: chunks });
}

describe("counts of a pipe", () => {
  it("random pipes: they tell what was written when one of the ends has failed", async () => {
    await fc.assert(fc.asyncProperty(programs, run), { numRuns: tries(1500) });
  });

  it("are added up over several pipes, and rise while a pipe runs", async () => {
    const counts = none();
    const seen: PipeCounts[] = [];
    const destination = new OurWritable({ write: () => void seen.push({ ...counts }) });
    for (let i = 0; i < 2; i++) await pipeTo(Ours.from(["a"]), destination, { counts, preventClose: true });
    assert.deepEqual(seen, [{ chunksRead: 1, chunksWritten: 0 }, { chunksRead: 2, chunksWritten: 1 }]);
    assert.deepEqual(counts, { chunksRead: 2, chunksWritten: 2 });
  });

  it("tell what entered a transform, of ours or native, and no less of native streams", async () => {
    for (const Transform of [TransformStream, globalThis.TransformStream]) {
      for (const Readable of [Ours as never as typeof globalThis.ReadableStream, globalThis.ReadableStream]) {
        const counts = none();
        const doubled = new Transform<number, number>({
          transform(chunk, controller) {
            for (let i = 0; i < 2; i++) controller.enqueue(chunk);
          },
        });
        const all: number[] = [];
        const source = new Readable<number>({
          start(controller) {
            for (const number of [1, 2, 3]) controller.enqueue(number);
            controller.close();
          },
        });
        const stream = pipeThrough(source, doubled, { counts });
        for (const reader = stream.getReader();;) {
          const step = await reader.read();
          if (step.done) break;
          all.push(step.value);
        }
        assert.deepEqual(all, [1, 1, 2, 2, 3, 3]);
        assert.deepEqual(counts, { chunksRead: 3, chunksWritten: 3 });
      }
    }
  });

  it("must be two numbers that can be set; else neither stream is locked", async () => {
    for (
      const counts of [null, 1, {}, { chunksRead: 0 }, Object.freeze(none()), { chunksRead: "0", chunksWritten: 0 }]
    ) {
      const source = new Ours();
      const options = { counts: counts as PipeCounts };
      await assert.rejects(pipeTo(source, new OurWritable(), options), {
        name: "TypeError",
        message: /counts\.chunks\w+ must be a number that can be set/,
      });
      assert.throws(() => pipeThrough(source, new TransformStream(), options), TypeError);
      assert.equal(source.locked, false);
    }
  });

  it("end the pipe if they can no longer be set", async () => {
    for (const destination of [new OurWritable(), new globalThis.WritableStream(), new BatchedWritableStream()]) {
      const reasons: unknown[] = [];
      const counts = none();
      const source = new Ours<number>({
        pull(controller) {
          controller.enqueue(1);
          if (counts.chunksRead === 2) Object.freeze(counts);
        },
        cancel: (reason) => void reasons.push(reason),
      });
      await assert.rejects(pipeTo(source, destination, { counts }), TypeError);
      assert.equal(reasons.length, 1);
      assert.deepEqual([source.locked, destination.locked], [false, false]);
    }
  });
});
