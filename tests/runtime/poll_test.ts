import assert from "node:assert/strict";
import test from "node:test";
import { afterPoll } from "../../lib/runtime/mod.ts";

test("all that wait for a look at the sockets are called once, in turn, but for those that gave it up", async () => {
  const called: string[] = [];
  await new Promise<void>((resolve) => {
    afterPoll(() => called.push("first"));
    const giveUp = afterPoll(() => called.push("given up"));
    const giveUpLate = afterPoll(() => {
      called.push("second");
      giveUpLate(); // which does nothing any more
      afterPoll(() => {
        called.push("third");
        afterPoll(resolve);
      });
    });
    giveUp();
    giveUp();
  });
  assert.deepEqual(called, ["first", "second", "third"]);
});

test("one that comes when all others gave up is called", async () => {
  for (let i = 0; i < 3; i++) afterPoll(() => assert.fail("it was given up"))();
  await new Promise<void>((resolve) => void afterPoll(resolve));
});
