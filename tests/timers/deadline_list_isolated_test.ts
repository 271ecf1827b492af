import assert from "node:assert/strict";
import test from "node:test";
import { Deadline, DeadlineList, MAX_TIMER_DELAY, type Timed } from "../../lib/timers/mod.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { FakeClock } from "../support/fake_clock.ts";

class Named implements Timed {
  expiresAt = 0;
  previousTimed: Timed | undefined = undefined;
  nextTimed: Timed | undefined = undefined;
  readonly #onExpired: () => void;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  onExpired(): void {
    assert.equal(this.expiresAt, 0);
    this.#onExpired();
  }
}

test("deadlines expire in the order in which they were set, each at its time", () => {
  using clock = new FakeClock();
  const expired: string[] = [];
  const list = new DeadlineList(100);
  const [a, b, c] = ["a", "b", "c"].map((name) => new Named(() => expired.push(name)));
  list.start(a);
  clock.turn(10);
  list.start(b);
  clock.turn(10);
  list.start(c);
  list.start(a); // again
  list.stop(c);
  list.stop(c);
  clock.turn(89);
  assert.deepEqual(expired, []);
  clock.turn(1);
  assert.deepEqual(expired, ["b"]);
  clock.turn(10);
  assert.deepEqual(expired, ["b", "a"]);
  clock.turn(1000);
  assert.deepEqual([expired.length, clock.pending], [2, 0]);
});

test("starting and stopping deadlines one after the other sets no timer each", () => {
  using clock = new FakeClock();
  const list = new DeadlineList(300);
  const one = new Named(() => assert.fail("expired"));
  for (let request = 0; request < 10_000; request++) {
    list.start(one);
    clock.turn(0.5);
    list.stop(one);
  }
  assert.ok(clock.made <= 20, `${clock.made} timers`);
  assert.equal(clock.keepingAlive, 0);
  list.rest();
  assert.equal(clock.pending, 0);
  list.start(one);
  list.rest(); // has no effect while there is a deadline
  assert.equal(clock.pending, 1);
});

test("deadlines longer than 2 ** 31 - 1 ms do not expire early, and those of Infinity never", () => {
  using clock = new FakeClock();
  let count = 0;
  const ms = 2 * MAX_TIMER_DELAY + 5;
  const deadline = new Deadline(new DeadlineList(ms), () => count++);
  new Deadline(new DeadlineList(Infinity), () => assert.fail("expired"));
  assert.equal(deadline.left, ms);
  clock.turn(ms - 1);
  assert.deepEqual([count, deadline.left], [0, 1]);
  clock.turn(1);
  assert.equal(count, 1);
});

test("a deadline of its own object is cleared by stop()", () => {
  using clock = new FakeClock();
  const list = new DeadlineList(10);
  const deadline = new Deadline(list, () => assert.fail("expired"));
  deadline.stop();
  deadline.stop();
  clock.turn(100);
  list.rest();
  assert.equal(clock.pending, 0);
});

test("a callback that throws keeps no other deadline from expiring", () => {
  using clock = new FakeClock();
  const list = new DeadlineList(10);
  let count = 0;
  new Deadline(list, () => {
    throw new Error("of the callback");
  });
  new Deadline(list, () => count++);
  assert.throws(() => clock.turn(10), /of the callback/);
  clock.turn(1);
  assert.equal(count, 1);
});

test("a list that rests has no timer while it has no deadline", () => {
  using clock = new FakeClock();
  const expired: string[] = [];
  const list = new DeadlineList(100, { rests: true });
  const [a, b] = ["a", "b"].map((name) => new Named(() => expired.push(name)));
  for (const end of [() => list.stop(b), () => clock.turn(100)]) {
    list.start(a);
    list.start(b);
    list.stop(a);
    assert.equal(clock.pending, 1);
    end();
    assert.equal(clock.pending, 0);
  }
  assert.deepEqual(expired, ["b"]);
});

test("random uses of a list: each deadline expires in order, never early, soon, and not after it was cleared", () => {
  for (let seed = 0; seed < 300; seed++) {
    const below = randomNumbers(seed);
    const ms = [5, 100.5, 3000, 3 * MAX_TIMER_DELAY][below(4)];
    using clock = new FakeClock(() => below(1000) / 1001);
    const list = new DeadlineList(ms);
    const due = new Map<Named, number>(); // in the order of their deadlines
    const start = (one: Named): void => {
      list.start(one);
      due.delete(one);
      due.set(one, clock.now + ms);
    };
    const stop = (one: Named): void => {
      list.stop(one);
      due.delete(one);
    };
    const all: Named[] = Array.from({ length: 8 }, () => {
      const one = new Named(() => {
        assert.equal([...due.keys()][0], one, `seed ${seed}: the order`);
        assert.ok(clock.now >= due.get(one)!, `seed ${seed}: early`);
        due.delete(one);
        if (below(3) === 0) start(all[below(8)]);
        if (below(3) === 0) stop(all[below(8)]);
      });
      return one;
    });
    for (let step = 0; step < 80; step++) {
      const one = all[below(8)];
      [
        () => start(one),
        () => start(one),
        () => stop(one),
        () => clock.turn(below(4) * ms / 4),
        () => clock.turn(below(10)),
        () => list.rest(),
      ][below(6)]();
      for (const [each, at] of due) {
        assert.ok(clock.now < at + 2, `seed ${seed}: ${clock.now - at} ms late`);
        assert.equal(each.expiresAt, at);
      }
      assert.ok(clock.pending <= 1 && clock.keepingAlive === 0, `seed ${seed}`);
      if (due.size > 0) assert.equal(clock.pending, 1);
    }
  }
});
