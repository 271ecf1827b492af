import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ChunkQueue } from "../../lib/streams/queuing/chunk_queue.ts";
import { dequeueSome, enqueueArray } from "../../lib/streams/shortcuts/chunk_array_queue.ts";

/**
 * A program's operations on a queue: enqueues chunks, dequeues up to a number of them one by one or at once, or clears
 * it.
 */
const steps = fc.array(fc.oneof(
  fc.record({ enqueue: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ dequeue: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ enqueueArray: fc.integer({ min: 1, max: 40 }), start: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ dequeueSome: fc.integer({ min: 1, max: 40 }) }),
  fc.constant({ reset: true }),
));

test("a queue gives chunks in the order in which they came, whether they come and go one by one or at once", () => {
  fc.assert(fc.property(steps, (program) => {
    const owner = { queue: new ChunkQueue() };
    const model: number[] = [];
    let next = 0;
    for (const step of program) {
      if ("enqueue" in step) {
        for (let i = 0; i < step.enqueue; i++) {
          owner.queue.enqueue(next, 1);
          model.push(next++);
        }
      } else if ("dequeue" in step) {
        for (let i = Math.min(step.dequeue, model.length); i > 0; i--) {
          assert.equal(owner.queue.dequeue(), model.shift());
        }
      } else if ("enqueueArray" in step) {
        const chunks = Array.from({ length: step.start + step.enqueueArray }, () => next++);
        enqueueArray(owner, chunks, step.start);
        model.push(...chunks.slice(step.start));
      } else if ("dequeueSome" in step) {
        if (model.length === 0) continue;
        const some = dequeueSome(owner.queue, step.dequeueSome);
        assert.ok(some.length > 0 && some.length <= step.dequeueSome);
        assert.deepEqual(some, model.splice(0, some.length));
      } else {
        owner.queue.reset();
        model.length = 0;
      }
      assert.equal(owner.queue.length, model.length);
      assert.equal(owner.queue.totalSize, model.length);
    }
    assert.deepEqual(Array.from({ length: owner.queue.length }, () => owner.queue.dequeue()), model);
  }));
});
