import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { endsWithin, Interval, MAX_TIMER_DELAY, Pause, sleep, TimeLimit, TurnSlicer } from "../../lib/timers/mod.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { FakeClock } from "../support/fake_clock.ts";

/** Returns a signal that counts its listeners, on any runtime. */
function countedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const added = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (type: string, listener: unknown, options?: unknown) => {
    added.add(listener);
    addEventListener.call(signal, type, listener as EventListener, options as AddEventListenerOptions);
  };
  signal.removeEventListener = (type: string, listener: unknown) => {
    added.delete(listener);
    removeEventListener.call(signal, type, listener as EventListener);
  };
  return { controller, listeners: () => added.size };
}

/** Returns the state of a promise once microtasks have run. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = "pending";
  promise.then((value) => state = { value }, (reason) => state = { reason });
  for (let i = 0; i < 10; i++) await undefined;
  return state;
}

test("sleep() ends at its time and leaves no listener", async () => {
  using clock = new FakeClock();
  const { controller, listeners } = countedSignal();
  const asleep = sleep(50, controller.signal);
  assert.deepEqual([listeners(), clock.keepingAlive], [1, 1]);
  clock.turn(49);
  assert.equal(await stateOf(asleep), "pending");
  clock.turn(1);
  assert.deepEqual(await stateOf(asleep), { value: undefined });
  assert.deepEqual([listeners(), clock.pending], [0, 0]);
});

test("sleep() is rejected with the reason of its signal and clears its timer", async () => {
  using clock = new FakeClock();
  const reason = { of: "the caller" };
  const controller = new AbortController();
  const asleep = sleep(50, controller.signal);
  controller.abort(reason);
  assert.deepEqual(await stateOf(asleep), { reason });
  assert.equal(clock.pending, 0);
  assert.deepEqual(await stateOf(sleep(50, controller.signal)), { reason });
  assert.equal(clock.pending, 0);
});

test("sleep() keeps the process alive unless that is not wanted, and may be longer than 2 ** 31 - 1 ms", async () => {
  using clock = new FakeClock();
  const asleep = sleep(2 * MAX_TIMER_DELAY, undefined, { keepsAlive: false });
  assert.equal(clock.keepingAlive, 0);
  clock.turn(2 * MAX_TIMER_DELAY - 1);
  assert.equal(await stateOf(asleep), "pending");
  clock.turn(1);
  assert.deepEqual(await stateOf(asleep), { value: undefined });
});

test("a pause ends at its time, or when other code ends it, or when another begins", async () => {
  using clock = new FakeClock();
  const pause = new Pause();
  const first = pause.wait(10);
  clock.turn(10);
  assert.deepEqual(await stateOf(first), { value: undefined });
  const second = pause.wait(10);
  pause.end();
  assert.deepEqual([await stateOf(second), clock.pending], [{ value: undefined }, 0]);
  pause.end();
  const third = pause.wait(10);
  const fourth = pause.wait(20);
  assert.deepEqual([await stateOf(third), await stateOf(fourth)], [{ value: undefined }, "pending"]);
  clock.turn(20);
  assert.deepEqual([await stateOf(fourth), clock.pending], [{ value: undefined }, 0]);
});

test("endsWithin() says whether a promise was fulfilled in time, and leaves no timer", async () => {
  using clock = new FakeClock();
  assert.equal(await endsWithin(Promise.resolve(), 10), true);
  await assert.rejects(endsWithin(Promise.reject(new Error("early")), 10), /early/);
  assert.equal(clock.pending, 0);
  const { promise, reject } = Promise.withResolvers<void>();
  const late = endsWithin(promise, 10);
  clock.turn(10);
  assert.equal(await late, false);
  reject(new Error("too late to be heard of"));
  assert.equal(clock.pending, 0);
});

test("a time limit aborts its signal when its time is over, with a reason that names the time", () => {
  using clock = new FakeClock();
  const { controller, listeners } = countedSignal();
  const limit = new TimeLimit(100, controller.signal);
  clock.turn(90);
  limit.restart(50);
  clock.turn(49);
  assert.deepEqual([limit.isOver, limit.signal.aborted, listeners()], [false, false, 1]);
  clock.turn(1);
  assert.deepEqual([limit.isOver, limit.signal.aborted, listeners()], [true, true, 0]);
  assert.match(String(limit.signal.reason), /it took more than 50 ms/);
  controller.abort("too late");
  assert.match(String(limit.signal.reason), /50 ms/);
});

test("a time limit passes on the abort of the outer signal, which is not its own end", () => {
  using clock = new FakeClock();
  const { controller, listeners } = countedSignal();
  const limit = new TimeLimit(100, controller.signal);
  controller.abort("by the caller");
  assert.deepEqual([limit.signal.reason, limit.isOver, clock.pending, listeners()], ["by the caller", false, 0, 0]);
  limit.restart(10);
  const second = new TimeLimit(100, controller.signal);
  assert.deepEqual([second.signal.reason, clock.pending, listeners()], ["by the caller", 0, 0]);
});

test("a time limit that is stopped leaves neither a timer nor a listener, and does not start again", () => {
  using clock = new FakeClock();
  const { controller, listeners } = countedSignal();
  const limit = new TimeLimit(100, controller.signal);
  limit.stop();
  limit.restart(10);
  assert.deepEqual([clock.pending, listeners()], [0, 0]);
  clock.turn(1000);
  controller.abort();
  assert.deepEqual([limit.isOver, limit.signal.aborted], [false, false]);
});

test("a time limit of more than 2 ** 31 - 1 ms is whole, and one of Infinity only passes on aborts", () => {
  using clock = new FakeClock();
  const limit = new TimeLimit(MAX_TIMER_DELAY + 10);
  clock.turn(MAX_TIMER_DELAY + 9);
  assert.equal(limit.isOver, false);
  clock.turn(1);
  assert.equal(limit.isOver, true);
  const controller = new AbortController();
  const endless = new TimeLimit(Infinity, controller.signal);
  assert.equal(clock.pending, 0);
  controller.abort("by the caller");
  assert.equal(endless.signal.reason, "by the caller");
});

test("within() has the result of a promise, or the reason for the end of the time, and leaves no listener", async () => {
  using clock = new FakeClock();
  const limit = new TimeLimit(100);
  assert.equal(await limit.within(Promise.resolve("result")), "result");
  await assert.rejects(limit.within(Promise.reject(new Error("its own"))), /its own/);
  const { promise, reject } = Promise.withResolvers<void>();
  const waiting = limit.within(promise);
  const waits = (): number => getEventListeners(limit.signal, "abort").length;
  assert.equal(waits(), 1);
  clock.turn(100);
  await assert.rejects(waiting, /more than 100 ms/);
  assert.equal(waits(), 0);
  reject(new Error("too late to be heard of"));
  await assert.rejects(limit.within(new Promise(() => {})), /more than 100 ms/);
});

test("random lives of a time limit: nothing is left of it once it ended or was stopped", () => {
  for (let seed = 0; seed < 300; seed++) {
    const below = randomNumbers(seed);
    using clock = new FakeClock(() => below(1000) / 1001);
    const { controller, listeners } = countedSignal();
    let end = clock.now + 100;
    let isStopped = false;
    const limit = new TimeLimit(100, controller.signal);
    for (let step = 0; step < 20; step++) {
      const { aborted } = limit.signal;
      const act = below(8);
      if (act === 0) controller.abort();
      if (act === 1) limit.stop();
      if (act === 2) limit.restart(50);
      if (act === 2 && !aborted && !isStopped) end = clock.now + 50;
      isStopped ||= act === 1;
      if (act > 2) clock.turn(below(40));
      if (limit.isOver && !aborted) assert.ok(clock.now >= end, `seed ${seed}: early`);
      const isRunning: boolean = !isStopped && !limit.signal.aborted;
      if (isRunning) assert.ok(clock.now < end + 2, `seed ${seed}: late`);
      assert.deepEqual([clock.pending, listeners()], isRunning ? [1, 1] : [0, 0], `seed ${seed}`);
    }
  }
});

test("work in turns lets timers and immediates have theirs, once a turn is over", async () => {
  const turns = new TurnSlicer(2);
  let timersFired = 0;
  const begun = performance.now();
  const interval = new Interval(1, () => timersFired++, { keepsAlive: false });
  let given = 0;
  while (timersFired < 3 && performance.now() - begun < 10_000) {
    if (!turns.isOver) continue;
    given++;
    await turns.next();
  }
  interval.stop();
  assert.ok(given >= 2 && timersFired === 3, `${given} turns, ${timersFired} timers`);
});

test("whether a turn is over depends on the clock", () => {
  using clock = new FakeClock();
  const turns = new TurnSlicer();
  clock.turn(4.9);
  assert.equal(turns.isOver, false);
  clock.turn(0.1);
  assert.equal(turns.isOver, true);
});
