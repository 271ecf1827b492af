import assert from "node:assert/strict";
import test from "node:test";
import { Turn } from "../../lib/files/internal.ts";
import { within } from "../support/waits.ts";

test("turns begin in the order in which they were asked for, each after the one before", async () => {
  const begun: number[] = [];
  const first = Turn.takeNow("a")!;
  assert.equal(Turn.takeNow("a"), undefined);
  assert.equal(first.isWanted, false);
  const others = [1, 2, 3].map(async (number) => {
    const turn = (await Turn.take("a"))!;
    begun.push(number);
    assert.equal(turn.isWanted, number < 3);
    await null;
    turn.end();
    turn.end();
  });
  assert.equal(first.isWanted, true);
  const elsewhere = Turn.takeNow("b")!;
  elsewhere.end();
  assert.deepEqual(begun, []);
  first.end();
  await within(Promise.all(others), "the turns");
  assert.deepEqual(begun, [1, 2, 3]);
  Turn.takeNow("a")!.end();
});

test("a turn that is waited for no longer, or aborted, does not hold up those behind it", async () => {
  const first = Turn.takeNow("a")!;
  const controller = new AbortController();
  const late = Turn.take("a", { waitFor: 20 });
  const aborted = Turn.take("a", { signal: controller.signal });
  const last = Turn.take("a");
  assert.equal(await late, undefined);
  const reason = new Error("enough");
  controller.abort(reason);
  await assert.rejects(aborted, reason);
  await assert.rejects(Turn.take("a", { signal: controller.signal }), reason);
  first.end();
  (await within(last, "the last turn"))!.end();
  Turn.takeNow("a")!.end();
});

test("a turn that is aborted as it begins goes to the next one", async () => {
  const first = Turn.takeNow("a")!;
  const controller = new AbortController();
  const aborted = Turn.take("a", { signal: controller.signal });
  const last = Turn.take("a");
  first.end();
  controller.abort(new Error("enough"));
  await assert.rejects(aborted, /enough/);
  (await within(last, "the last turn"))!.end();
});
