import assert from "node:assert/strict";
import test from "node:test";
import type { DefaultControllerState } from "../../lib/streams/readable/default_controller_state.ts";
import { readableStreamFromIterable } from "../../lib/streams/readable/from.ts";
import { pullRun } from "../../lib/streams/readable/pull_run.ts";

/** Returns a stream's controller that is ready to be pulled, and how many numbers of its iterable were taken. */
async function counting(most: number): Promise<{ controller: DefaultControllerState; taken: () => number }> {
  let taken = 0;
  function* numbers(): Generator<number> {
    while (taken < most) yield ++taken;
  }
  const { controller } = readableStreamFromIterable(numbers());
  await new Promise((resolve) => setTimeout(resolve)); // it has started
  return { controller: controller as DefaultControllerState, taken: () => taken };
}

test("pullRun() takes no more of an iterable than is asked for", async () => {
  const { controller, taken } = await counting(10);
  assert.deepEqual(pullRun(controller, 3, { wantsChunks: true }), [1, 2, 3]);
  assert.equal(taken(), 3);
});

test("pullRun() gives an array of what there is when the iterable ends early", async () => {
  const { controller } = await counting(2);
  assert.deepEqual(pullRun(controller, 5, { wantsChunks: true }), [1, 2]);
});

test("pullRun() stops when its pipe wants no more", async () => {
  const { controller, taken } = await counting(10);
  let asked = 0;
  assert.deepEqual(
    pullRun(controller, 5, {
      get wantsChunks() {
        return ++asked <= 2;
      },
    }),
    [1, 2],
  );
  assert.equal(taken(), 2);
});
