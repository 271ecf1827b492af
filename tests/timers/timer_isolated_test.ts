import assert from "node:assert/strict";
import test, { mock } from "node:test";
import timers from "node:timers";
import { Deadline, DeadlineList, Interval, KEEPS_TIMERS, MAX_TIMER_DELAY, Timer } from "../../lib/timers/mod.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { until } from "../support/waits.ts";

const DAY = 86_400_000;

test("a timer fires at its time, once, and says how late it is", () => {
  using clock = new FakeClock();
  const fired: number[] = [];
  const timer = new Timer((late) => fired.push(late));
  timer.start(100);
  clock.turn(99.5);
  assert.deepEqual([fired, timer.isSet], [[], true]);
  clock.turn(0.5);
  assert.deepEqual([fired, timer.isSet, clock.pending], [[0], false, 0]);
  timer.start(100);
  clock.block(1500);
  assert.deepEqual(fired, [0, 1400]);
  clock.turn(DAY);
  assert.equal(fired.length, 2);
});

test("a timer does not fire early where the runtime does", () => {
  using clock = new FakeClock(() => 0.999);
  const fired: number[] = [];
  const timer = new Timer(() => fired.push(clock.now));
  const due = clock.now + 20.5;
  timer.setDue(due);
  clock.turn(1000);
  assert.equal(fired.length, 1);
  assert.ok(fired[0] >= due && fired[0] < due + 2, `${fired[0] - due} ms`);
});

test("a wait of more than 2 ** 31 - 1 ms is whole", () => {
  using clock = new FakeClock();
  let count = 0;
  const timer = new Timer(() => count++);
  for (const ms of [MAX_TIMER_DELAY, MAX_TIMER_DELAY + 1, 3 * MAX_TIMER_DELAY + 0.5]) {
    count = 0;
    timer.start(ms);
    clock.turn(ms - 1);
    assert.equal(count, 0, `${ms} ms`);
    clock.turn(2);
    assert.equal(count, 1, `${ms} ms`);
  }
});

test("a timer that never fires sets none of the runtime, and one that is stopped leaves none", () => {
  using clock = new FakeClock();
  const timer = new Timer(() => assert.fail("fired"));
  timer.start(Infinity);
  assert.deepEqual([timer.isSet, clock.pending], [false, 0]);
  timer.start(10);
  timer.start(Infinity);
  assert.deepEqual([timer.isSet, clock.pending], [false, 0]);
  timer.start(10);
  timer.stop();
  assert.deepEqual([timer.isSet, clock.pending], [false, 0]);
  clock.turn(DAY);
});

test("a timer that is put off again and again sets none of the runtime each time", () => {
  using clock = new FakeClock();
  let count = 0;
  const timer = new Timer(() => count++, { keepsAlive: false });
  for (let use = 0; use < 1000; use++) {
    timer.setDue(Infinity);
    timer.start(100);
    clock.turn(1);
  }
  assert.equal(count, 0);
  assert.ok(clock.made <= 12, `${clock.made} timers`);
  clock.turn(100);
  assert.deepEqual([count, clock.pending], [1, 0]);
});

test("a timer keeps the process alive unless that is not wanted, also when its wait is made of several", () => {
  using clock = new FakeClock();
  new Timer(() => {}).start(2 * MAX_TIMER_DELAY);
  new Timer(() => {}, { keepsAlive: false }).start(2 * MAX_TIMER_DELAY);
  assert.deepEqual([clock.pending, clock.keepingAlive], [2, 1]);
  clock.turn(MAX_TIMER_DELAY);
  assert.deepEqual([clock.pending, clock.keepingAlive], [2, 1]);
});

test("a timer can be set from its callback, and one whose callback throws can be set again", () => {
  using clock = new FakeClock();
  const fired: number[] = [];
  const begun = clock.now;
  const timer = new Timer(() => {
    fired.push(clock.now - begun);
    if (fired.length < 3) timer.start(10);
    else throw new Error("of the callback");
  });
  timer.start(10);
  assert.throws(() => clock.turn(100), /of the callback/);
  timer.start(10);
  assert.throws(() => clock.turn(100), /of the callback/);
  assert.deepEqual(fired, [10, 20, 30, 40]);
});

test("random uses of a timer: it fires once for what it was last set to, never early, and soon", () => {
  for (let seed = 0; seed < 300; seed++) {
    const below = randomNumbers(seed);
    using clock = new FakeClock(() => below(1000) / 1001);
    let due = Infinity;
    const timer = new Timer((late) => {
      assert.ok(clock.now >= due, `seed ${seed}: ${due - clock.now} ms early`);
      assert.ok(Math.abs(late - (clock.now - due)) < 1e-6, `seed ${seed}`);
      due = Infinity;
      if (below(3) === 0) start();
    }, { keepsAlive: below(2) === 0 });
    const start = (): void => {
      const ms = [0, below(10), below(1000) + 0.5, below(20) * 2 ** 28, Infinity][below(5)];
      due = clock.now + ms;
      timer.start(ms);
    };
    for (let step = 0; step < 60; step++) {
      const before = clock.now;
      [
        start,
        start,
        () => {
          timer.stop();
          due = Infinity;
          assert.equal(clock.pending, 0);
        },
        () => clock.turn(below(1500)),
        () => clock.turn(below(50) * 2 ** 27),
        () => clock.block(below(500)),
      ][below(6)]();
      assert.equal(timer.isSet, due !== Infinity, `seed ${seed}`);
      assert.ok(due > clock.now - 2 || clock.now === before, `seed ${seed}: ${clock.now - due} ms late`);
      assert.ok(clock.pending <= 1, `seed ${seed}: ${clock.pending} timers`);
    }
  }
});

test("an event loop that is late does not put a timer off, whatever is asked or set before its turn", () => {
  for (let seed = 0; seed < 300; seed++) {
    const below = randomNumbers(seed);
    using clock = new FakeClock(() => below(1000) / 1001);
    let due = Infinity;
    const timer = new Timer(() => due = Infinity, { keepsAlive: below(2) === 0 });
    const set = (at: number): void => timer.setDue(due = at);
    for (let step = 0; step < 60; step++) {
      for (let more = below(4); more > 0; more--) {
        [
          () => set(clock.now + below(300)),
          () => set(due === Infinity ? clock.now + 10 : due),
          () => timer.isSet || set(clock.now + below(300)),
          () => clock.pass(below(200)),
        ][below(4)]();
        assert.equal(timer.isSet, due !== Infinity, `seed ${seed}`);
      }
      clock.turn(0);
      clock.turn(2); // the runtime's timers may fire early
      assert.ok(due > clock.now - 3, `seed ${seed}: ${clock.now - due} ms late`);
    }
  }
});

test("deadlines expire although the event loop is late, or a test has stopped the clock", () => {
  using clock = new FakeClock();
  let expired = 0;
  const list = new DeadlineList(100);
  for (let request = 0; request < 50; request++) {
    new Deadline(list, () => expired++);
    clock.pass(30);
    if (request % 7 === 6) clock.turn(0);
  }
  assert.ok(expired > 40, `${expired} of 50`);
});

test("the real clock: a timer fires, and not before its time", async () => {
  for (const ms of [0, 1.2, 5.7, 20.1]) {
    const due = performance.now() + ms;
    await new Promise<void>((resolve) => {
      new Timer((late) => {
        assert.ok(performance.now() >= due && late >= 0);
        resolve();
      }).setDue(due);
    });
  }
});

test("a timer with a last look is not due if it is stopped or put off in that, and whatever is due later has its own", () => {
  using clock = new FakeClock();
  let looks: (() => void)[] = [];
  const poll = (): void => {
    const due = looks;
    looks = [];
    for (const look of due) look();
  };
  const fired: number[] = [];
  const timer = new Timer((late) => fired.push(late), { afterPoll: (look) => looks.push(look), keepsAlive: false });
  for (const change of [() => timer.stop(), () => timer.setDue(Infinity), () => timer.start(100)]) {
    timer.start(100);
    clock.block(900);
    assert.deepEqual([fired, looks.length], [[], 1]);
    change();
    poll();
    assert.deepEqual([fired, looks.length], [[], 0]);
  }
  clock.turn(100);
  timer.setDue(clock.now - 50); // does not put it off
  poll();
  assert.deepEqual([fired, looks.length, timer.isSet], [[50], 0, false]);
  timer.start(100);
  clock.block(100);
  clock.block(700); // within the look
  timer.setDue(clock.now - 300);
  poll();
  assert.deepEqual([fired, timer.isSet], [[50], true]);
  clock.turn(1);
  poll();
  assert.deepEqual(fired, [50, 301]);
  timer.start(100);
  clock.block(3000);
  poll();
  clock.turn(499);
  assert.deepEqual([fired.length, looks.length, timer.isSet], [2, 0, true]);
  clock.turn(1);
  poll();
  assert.deepEqual([fired.length, looks.length, clock.pending], [3, 0, 0]);
});

test("a timer with a last look is due within three turns of the event loop, however long each of them takes", () => {
  using clock = new FakeClock();
  const looks: (() => void)[] = [];
  let fired = 0;
  const timer = new Timer(() => fired++, { afterPoll: (look) => looks.push(look) });
  for (const ms of [100, 600, 999, 1000, 1499, 1500, 5000, 1e6]) {
    fired = 0;
    timer.start(100);
    for (let turns = 0; fired === 0; turns++) {
      assert.ok(turns < 3, `turns of ${ms} ms`);
      clock.block(ms);
      for (const look of looks.splice(0)) look();
    }
    clock.turn(DAY);
    assert.deepEqual([fired, clock.pending], [1, 0]);
  }
});

test("an interval calls until it is stopped, also from its own call, and goes on when a call throws", () => {
  using clock = new FakeClock();
  const begun = clock.now;
  const calls: number[] = [];
  const interval = new Interval(50, () => {
    calls.push(clock.now - begun);
    if (calls.length === 2) throw new Error("of the call");
    if (calls.length === 4) interval.stop();
  }, { keepsAlive: false });
  assert.equal(clock.keepingAlive, 0);
  assert.throws(() => clock.turn(120), /of the call/);
  clock.block(1000); // no call for each that was missed
  clock.turn(1000);
  interval.stop();
  assert.deepEqual([calls, clock.pending], [[50, 100, 1100, 1150], 0]);
});

for (const keepsAlive of [true, false]) {
  test(`a timer that was set by a faked clock fires once that is gone (${keepsAlive ? "ref" : "unref"})`, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = new Timer(() => resolve(), { keepsAlive });
    {
      using _clock = new FakeClock();
      timer.start(10);
      timer.setDue(Infinity);
      timer.start(20);
    }
    assert.equal(timer.isSet, false); // the timer of a removed clock never fires
    timer.start(5);
    assert.equal(timer.isSet, true);
    const keepAlive = setTimeout(() => {}, 10_000);
    await promise;
    clearTimeout(keepAlive);
  });
}

test("a list of deadlines expires although its timer was set by a faked clock", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const list = new DeadlineList(20);
  {
    using _clock = new FakeClock();
    new Deadline(list, () => {}).stop();
    new Deadline(list, () => {});
  }
  new Deadline(list, resolve);
  const keepAlive = setTimeout(() => {}, 10_000);
  await promise;
  clearTimeout(keepAlive);
});

test("timers and deadlines fire under a clock that has dropped what was set before, and on the real one after it", async () => {
  const list = new DeadlineList(50);
  const fired: string[] = [];
  const timer = new Timer(() => fired.push("timer"));
  const set = (): void => {
    timer.start(50);
    new Deadline(list, () => fired.push("deadline"));
  };
  for (const apis of [["setTimeout"], ["setTimeout", "setInterval", "Date"]] as const) {
    mock.timers.enable({ apis: [...apis] });
    timer.start(50);
    new Deadline(list, () => {}).stop();
    mock.timers.reset(); // the mocked timers are removed
    // Deno keeps its function, so that only the time shows whether the mock was removed.
    for (const end = performance.now() + 60; performance.now() < end;);
    mock.timers.enable({ apis: [...apis] });
    set();
    // On the real clock where the runtime's own mock leaves `node:timers` as it is.
    for (const end = performance.now() + 10_000; new Set(fired).size < 2 && performance.now() < end;) {
      await new Promise((resolve) => setImmediate(resolve));
      mock.timers.tick(100);
    }
    assert.deepEqual([...new Set(fired.splice(0))].sort(), ["deadline", "timer"]); // a list may have former ones
    set();
    mock.timers.reset();
    for (const end = performance.now() + 60; performance.now() < end;);
  }
  set();
  const keepAlive = setTimeout(() => {}, 10_000);
  await until(() => fired.includes("timer") && fired.includes("deadline"), "both on the real clock");
  clearTimeout(keepAlive);
});

test("a timer that is stopped, or set again, under a clock that was faked meanwhile keeps no process alive", () => {
  const { setTimeout } = timers;
  const own: NodeJS.Timeout[] = [];
  const spy = ((...args: Parameters<typeof setTimeout>) => own[own.push(setTimeout(...args)) - 1]) as typeof setTimeout;
  timers.setTimeout = Object.assign(spy, { [KEEPS_TIMERS]: true });
  try {
    const [stopped, again] = [new Timer(() => assert.fail("fired")), new Timer(() => assert.fail("fired"))];
    stopped.start(60_000);
    again.start(60_000);
    assert.deepEqual(own.map((timer) => timer.hasRef()), [true, true]);
    using clock = new FakeClock();
    stopped.stop();
    again.start(30_000);
    assert.deepEqual([own.map((timer) => timer.hasRef()), clock.keepingAlive], [[false, false], 1]);
    again.stop();
    assert.equal(clock.pending, 0);
  } finally {
    timers.setTimeout = setTimeout;
    for (const timer of own) clearTimeout(timer);
  }
});

test("a timer takes what a replaced setTimeout() returns, be it a number", () => {
  const { setTimeout } = timers;
  timers.setTimeout = (() => 7) as unknown as typeof timers.setTimeout;
  try {
    new Timer(() => {}, { keepsAlive: false }).start(10);
  } finally {
    timers.setTimeout = setTimeout;
  }
});

test("a timer fires although a test has stopped the clock, or put it back", async () => {
  const { now } = performance;
  const keepAlive = setTimeout(() => {}, 10_000);
  try {
    for (const stopped of [1e5, 1e7]) {
      performance.now = () => stopped;
      const { promise, resolve } = Promise.withResolvers<void>();
      new Timer(() => resolve()).start(5);
      const expired = new Promise<void>((expire) => new Deadline(new DeadlineList(5), expire));
      if (stopped === 1e7) performance.now = () => 5;
      await Promise.all([promise, expired]);
    }
  } finally {
    performance.now = now;
    clearTimeout(keepAlive);
  }
});

test("a timer that is set anew in a turn that ran past its time waits the whole of the new one", async () => {
  const random = randomNumbers(20261126);
  const block = (ms: number): void => {
    for (const end = performance.now() + ms; performance.now() < end;);
  };
  const early: string[] = [];
  const runs = Array.from({ length: 12 }, async (_, i) => {
    const list = new DeadlineList(40);
    for (let step = 0; step < 3; step++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let due = 0; // until it is set again: the first time may be over before that
      const fired = (what: string): void => {
        if (performance.now() < due - 2) early.push(`${what} of run ${i}, ${due - performance.now()} ms too early`);
        resolve();
      };
      const timer = new Timer(() => fired("a timer"));
      timer.start(1 + random(4));
      const first = new Deadline(list, () => {});
      await new Promise((turn) => setImmediate(turn));
      first.stop();
      block(random(8));
      due = performance.now() + 40;
      if (i % 2 === 0) timer.start(40);
      else {
        timer.stop();
        new Deadline(list, () => fired("a deadline"));
      }
      await promise;
    }
  });
  const keepAlive = setTimeout(() => {}, 10_000);
  await Promise.all(runs);
  clearTimeout(keepAlive);
  assert.deepEqual(early, []);
});
