import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { BatchedWritableStream, coalesceBytes } from "../../lib/batch/mod.ts";
import { ByteLengthQueuingStrategy, pipeTo, ReadableStream, toNative, WritableStream } from "../../lib/streams/mod.ts";
import { turn } from "./progress.ts";
import { tries } from "../support/long_run.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Way = "writer" | "writer that waits" | "our pipe" | "native pipe" | "native source" | "byte stream" | "coalesced";

const ways: readonly Way[] = [
  "writer",
  "writer that waits",
  "our pipe",
  "native pipe",
  "native source",
  "byte stream",
  "coalesced",
];

/** Yields the bytes in chunks whose sizes are given, over and over. */
function* chunked(bytes: Bytes, sizes: readonly number[]): Generator<Bytes> {
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const end = at + sizes[index % sizes.length];
    yield bytes.slice(at, end);
    at = end;
  }
}

async function* withTurns(chunks: Iterable<Bytes>): AsyncGenerator<Bytes> {
  let count = 0;
  for (const chunk of chunks) {
    if (count++ % 7 === 0) await turn();
    yield chunk;
  }
}

/** Returns a byte stream that enqueues a chunk at each pull. */
function byteStream(chunks: Generator<Bytes>): ReadableStream<Bytes> {
  return new ReadableStream({
    type: "bytes",
    pull(controller): void {
      const { done, value } = chunks.next();
      if (!done && value.length > 0) controller.enqueue(value);
      else if (!done) this.pull!(controller);
      else controller.close();
    },
  });
}

async function bring(way: Way, chunks: Generator<Bytes>, stream: BatchedWritableStream<Bytes>): Promise<void> {
  if (way === "our pipe") return ReadableStream.from(withTurns(chunks)).pipeTo(stream);
  if (way === "native pipe") return toNative(ReadableStream.from(chunks)).pipeTo(stream);
  if (way === "native source") return pipeTo(toNative(ReadableStream.from(withTurns(chunks))), stream);
  if (way === "byte stream") return byteStream(chunks).pipeTo(stream);
  if (way === "coalesced") {
    return ReadableStream.from(chunks).pipeThrough<Bytes>(coalesceBytes({ size: 50 })).pipeTo(stream);
  }
  const writer = stream.getWriter();
  for (const chunk of chunks) {
    if (way === "writer that waits") await writer.ready;
    writer.write(chunk).catch(() => {});
  }
  await writer.close();
}

it("the same bytes in any chunks, by any way, with any limits: the same output", async () => {
  const plans = fc.record({
    bytes: fc.uint8Array({ maxLength: 600 }),
    sizes: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
    hasEmpty: fc.boolean(),
    way: fc.constantFrom(...ways),
    highWaterMark: fc.constantFrom(1, 2, 10, 100, 1000, Infinity),
    maxBatch: fc.constantFrom(1, 3, 64, 200, Infinity),
    countsBytes: fc.boolean(),
    isSlow: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(plans, async ({ sizes, way, highWaterMark, maxBatch, countsBytes, hasEmpty, ...plan }) => {
      const bytes = Uint8Array.from(plan.bytes);
      const out: number[] = [];
      const weigh = (chunk: Bytes): number => countsBytes ? chunk.length : 1;
      const stream = new BatchedWritableStream<Bytes>({
        maxBatch,
        writev(chunks): Promise<void> | undefined {
          const sum = chunks.reduce((sum, chunk) => sum + weigh(chunk), 0);
          assert.ok(chunks.length === 1 || sum <= maxBatch, `${sum} above ${maxBatch}`);
          for (const chunk of chunks) out.push(...chunk);
          return plan.isSlow ? turn() : undefined;
        },
      }, countsBytes ? new ByteLengthQueuingStrategy({ highWaterMark }) : { highWaterMark });
      await bring(way, chunked(bytes, hasEmpty ? [...sizes, 0] : sizes), stream);
      assert.deepEqual(out, [...bytes]);
    }),
    { numRuns: tries(250) },
  );
});

it("a batched stream gets what a plain one gets, whatever the source and its bursts", async () => {
  const bursts = fc.array(fc.tuple(fc.nat(30), fc.constantFrom("now", "microtask", "turn")), { maxLength: 20 });
  const source = (plan: readonly (readonly [number, string])[]): ReadableStream<number> => {
    let next = 0;
    let pulls = 0;
    return new ReadableStream<number>({
      pull(controller): void | Promise<void> {
        const step = plan[pulls++];
        if (step === undefined) return controller.close();
        const [burst, when] = step;
        const enqueue = (): void => {
          for (let left = burst; left > 0; left--) controller.enqueue(next++);
          if (burst === 0) controller.enqueue(-1);
        };
        if (when === "now") return enqueue();
        return (when === "turn" ? turn() : Promise.resolve()).then(enqueue);
      },
    });
  };
  await fc.assert(
    fc.asyncProperty(bursts, fc.integer({ min: 1, max: 50 }), async (plan, highWaterMark) => {
      const [plain, batched]: number[][] = [[], []];
      await source(plan).pipeTo(new WritableStream<number>({ write: (chunk) => void plain.push(chunk) }));
      await source(plan).pipeTo(
        new BatchedWritableStream<number>({ writev: (chunks) => void batched.push(...chunks) }, { highWaterMark }),
      );
      assert.deepEqual(batched, plain);
    }),
    { numRuns: tries(100) },
  );
});
