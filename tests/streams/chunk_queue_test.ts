import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { checkedSize, ChunkQueue } from "../../lib/streams/queuing/chunk_queue.ts";

/** Sizes of chunks: mostly 1, as where no strategy is given, so that programs begin without a ring of sizes. */
const size = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.nat(100));
const steps = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.record({ enqueue: size }) },
  { weight: 2, arbitrary: fc.constant({ dequeue: true }) },
  { weight: 2, arbitrary: fc.constant({ take: true }) },
  fc.record({ pass: size }),
  fc.constant({ reset: true }),
));

test("ChunkQueue's total is that of the chunks in it, of which each is as large as it was when it came", () => {
  fc.assert(fc.property(steps, (program) => {
    const queue = new ChunkQueue();
    let model: { chunk: number; size: number }[] = [];
    let next = 0;
    const total = (): number => model.reduce((sum, { size }) => sum + size, 0);
    for (const step of program) {
      if ("enqueue" in step) {
        model.push({ chunk: next, size: step.enqueue });
        queue.enqueue(next++, step.enqueue);
      } else if ("reset" in step) {
        queue.reset();
        model = [];
      } else if ("pass" in step) {
        queue.pass(step.pass);
        assert.equal(queue.totalSize, total() + step.pass);
        queue.release();
      } else if (model.length > 0) {
        const before = total();
        const { chunk } = model.shift()!;
        if ("dequeue" in step) {
          assert.equal(queue.dequeue(), chunk);
        } else {
          assert.equal(queue.take(), chunk);
          assert.equal(queue.totalSize, before, "a chunk that is taken counts until it is released");
          queue.release();
        }
      }
      assert.deepEqual([queue.length, queue.totalSize], [model.length, total()]);
    }
  }));
});

test("ChunkQueue counts what is enqueued while a chunk that was taken is at work", () => {
  const queue = new ChunkQueue();
  queue.enqueue("a", 3);
  assert.equal(queue.take(), "a");
  queue.enqueue("b", 5);
  assert.deepEqual([queue.length, queue.totalSize], [1, 8]);
  queue.release();
  assert.equal(queue.totalSize, 5);
  queue.release();
  assert.equal(queue.totalSize, 5, "a second release takes nothing off");
});

test("ChunkQueue's total does not fall below 0 by the rounding of fractional sizes", () => {
  const queue = new ChunkQueue();
  const sizes = [0.7, 0.1] as const;
  assert.ok(sizes[0] + sizes[1] - sizes[0] - sizes[1] < 0, "the sizes are chosen to round down");
  for (const size of sizes) queue.enqueue("chunk", size);
  queue.enqueue("last", 0);
  queue.dequeue();
  queue.dequeue();
  assert.equal(queue.totalSize, 0);
  assert.equal(queue.dequeue(), "last");
});

test("ChunkQueue keeps chunks of size 0, which take nothing off its total", () => {
  const queue = new ChunkQueue();
  queue.enqueue(undefined, 0);
  queue.enqueue("b", 1);
  queue.enqueue("c", 0);
  assert.deepEqual([queue.length, queue.totalSize], [3, 1]);
  assert.equal(queue.dequeue(), undefined);
  assert.deepEqual([queue.length, queue.totalSize], [2, 1]);
  assert.deepEqual([queue.dequeue(), queue.dequeue(), queue.totalSize], ["b", "c", 0]);
});

test("checkedSize() converts what a size function gave, as Web IDL does", () => {
  const given = [0, 2.5, "3", null, true, new Date(4), { valueOf: () => 5 }];
  assert.deepEqual(given.map(checkedSize), [0, 2.5, 3, 0, 1, 4, 5]);
});

test("checkedSize() refuses what is no finite number of at least 0, and passes on what a conversion throws", () => {
  for (const wrong of [-1, NaN, Infinity, -Infinity, undefined, "a lot", {}]) {
    assert.throws(() => checkedSize(wrong), { name: "RangeError", message: new RegExp(`not .*${String(wrong)}`) });
  }
  for (const wrong of [1n, Symbol("size")]) assert.throws(() => checkedSize(wrong), TypeError);
  const broken = new Error("no number");
  const thrower = {
    valueOf(): never {
      throw broken;
    },
  };
  assert.throws(() => checkedSize(thrower), (error) => error === broken);
});
