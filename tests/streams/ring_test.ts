import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { Ring } from "../../lib/streams/queuing/chunk_queue.ts";

/** A program's operations on a queue: pushes items, shifts up to a number of them, or clears it. */
const steps = fc.array(fc.oneof(
  fc.record({ push: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ shift: fc.integer({ min: 1, max: 40 }) }),
  fc.constant({ clear: true }),
));

test("Ring gives items in the order in which they came, whatever is pushed and taken in between", () => {
  fc.assert(fc.property(steps, (program) => {
    const ring = new Ring<number>();
    const model: number[] = [];
    let next = 0;
    for (const step of program) {
      if ("push" in step) {
        for (let i = 0; i < step.push; i++) {
          ring.push(next);
          model.push(next++);
        }
      } else if ("shift" in step) {
        for (let i = Math.min(step.shift, model.length); i > 0; i--) {
          assert.equal(ring.peek(), model[0]);
          assert.equal(ring.shift(), model.shift());
        }
      } else {
        ring.clear();
        model.length = 0;
      }
      assert.equal(ring.length, model.length);
    }
    assert.deepEqual(Array.from({ length: ring.length }, () => ring.shift()), model);
  }));
});

test("Ring keeps the order while it grows with its items wrapped around the end of its array", () => {
  for (const taken of [1, 4, 7]) {
    const ring = new Ring<number>();
    for (let i = 0; i < 9; i++) ring.push(i); // one in the field, eight fill the smallest array
    for (let i = 0; i < taken; i++) assert.equal(ring.shift(), i);
    for (let i = 9; i < 40; i++) ring.push(i);
    for (let i = taken; i < 40; i++) assert.equal(ring.shift(), i);
    assert.equal(ring.length, 0);
  }
});

test("Ring holds items that are undefined as it does others", () => {
  const ring = new Ring<number | undefined>();
  const items = [undefined, 1, undefined, undefined, 2];
  for (const item of items) ring.push(item);
  assert.deepEqual(items.map(() => ring.shift()), items);
});

test("Ring can be used again after a burst that it gave its array up for, and after clear()", () => {
  const ring = new Ring<number>();
  for (const end of [(): void => ring.clear(), (): void => drain(ring)]) {
    for (let i = 0; i < 5000; i++) ring.push(i);
    end();
    assert.equal(ring.length, 0);
    for (let i = 0; i < 20; i++) ring.push(i);
    for (let i = 0; i < 20; i++) assert.equal(ring.shift(), i);
  }
});

function drain(ring: Ring<number>): void {
  for (let i = 0; ring.length > 0; i++) assert.equal(ring.shift(), i);
}
