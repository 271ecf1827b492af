import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { enqueueAll } from "../../lib/streams/internal.ts";
import {
  ReadableStream,
  TransformStream,
  type TransformStreamDefaultController,
  WritableStream,
} from "../../lib/streams/mod.ts";

type Enqueue = (controller: TransformStreamDefaultController<number>, chunks: number[]) => void;

const oneByOne: Enqueue = (controller, chunks) => {
  for (const chunk of chunks) controller.enqueue(chunk);
};

/** Returns a transform that makes a run of numbers of each chunk, and notes how full it is after that. */
function bursts(enqueue: Enqueue, log: string[], strategy: QueuingStrategy<number>): TransformStream<number, number> {
  const transform = (length: number, controller: TransformStreamDefaultController<number>): void => {
    enqueue(controller, Array.from({ length }, (_, i) => length * 100 + i));
    log.push(`desired ${controller.desiredSize}`);
  };
  return new TransformStream({ transform }, undefined, strategy);
}

const strategies: Readonly<Record<string, QueuingStrategy<number>>> = {
  "of a mark of 0": { highWaterMark: 0 },
  "of a mark of 5": { highWaterMark: 5 },
  "with a size": { highWaterMark: 7, size: (chunk) => chunk % 3 },
};

for (const [name, strategy] of Object.entries(strategies)) {
  test(`enqueueAll() does what enqueue() does for each chunk: readers that wait, a strategy ${name}`, async () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1, max: 30 }), async (lengths, readers) => {
        const read = async (enqueue: Enqueue): Promise<string[]> => {
          const log: string[] = [];
          const { readable, writable } = bursts(enqueue, log, strategy);
          // Written by hand: a pipe stops for others when its turn grows long, and that is in the order, too.
          const writer = writable.getWriter();
          for (const length of lengths) void writer.write(length);
          void writer.close();
          const reader = readable.getReader();
          for (let ended = false; !ended;) {
            const results = await Promise.all(Array.from({ length: readers }, () => reader.read()));
            for (const { done, value } of results) log.push(done ? "done" : `read ${value}`);
            ended = results.some(({ done }) => done);
          }
          return log;
        };
        assert.deepEqual(await read(enqueueAll), await read(oneByOne));
      }),
      { numRuns: 50 },
    );
  });
}

test("enqueueAll() gives a pipe all chunks in order", async () => {
  const received: number[] = [];
  await ReadableStream.from([3, 0, 5000, 1]).pipeThrough(bursts(enqueueAll, [], { highWaterMark: 0 })).pipeTo(
    new WritableStream({ write: (chunk) => void received.push(chunk) }, { highWaterMark: 4 }),
  );
  const run = (length: number): number[] => Array.from({ length }, (_, i) => length * 100 + i);
  assert.deepEqual(received, [...run(3), ...run(5000), ...run(1)]);
});

test("enqueueAll() throws a TypeError once the readable end is closed or errored, as enqueue() does", async () => {
  for (const end of ["terminate", "error"] as const) {
    const thrown: unknown[] = [];
    const stream = new TransformStream<number, number>(
      {
        transform(_, controller) {
          controller[end]();
          for (const enqueue of [enqueueAll, oneByOne]) {
            assert.throws(() => enqueue(controller, [1]), (error) => {
              return Boolean(thrown.push((error as Error).message));
            });
          }
        },
      },
      undefined,
      { highWaterMark: 1 },
    );
    await stream.writable.getWriter().write(1).catch(() => {});
    assert.equal(thrown.length, 2);
    assert.equal(thrown[0], thrown[1]);
  }
});
