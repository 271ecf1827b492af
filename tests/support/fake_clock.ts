import timers from "node:timers";
import { KEEPS_TIMERS, MAX_TIMER_DELAY } from "../../lib/timers/mod.ts";

interface FakeTimer {
  readonly at: number;
  readonly steps: () => void;
  isRefed: boolean;
}

/**
 * A clock that stands until a test turns it: it replaces `performance.now()` and the timers of `node:timers` until it is
 * disposed. As with the runtimes' own, a timer whose delay is not between 1 and 2 ** 31 - 1 ms fires after 1 ms.
 */
export class FakeClock {
  /** The time in ms. */
  now = 1000.25;
  /** The number of timers that were set. */
  made = 0;
  readonly #timers: Set<FakeTimer> = new Set();
  readonly #earliness: () => number;
  readonly #restore: () => void;

  /** @param earliness How many ms before its time a timer fires: runtimes round the time at which it was set. */
  constructor(earliness: () => number = () => 0) {
    this.#earliness = earliness;
    const { setTimeout, clearTimeout } = timers;
    const now = Object.getOwnPropertyDescriptor(performance, "now");
    timers.setTimeout =
      ((steps: (...args: unknown[]) => void, delay = 1, ...args: unknown[]) =>
        this.#set(() => steps(...args), delay)) as typeof timers.setTimeout;
    Object.assign(timers.setTimeout, { [KEEPS_TIMERS]: true });
    timers.clearTimeout = (timer) => void this.#timers.delete(timer as unknown as FakeTimer);
    performance.now = () => this.now;
    this.#restore = () => {
      Object.assign(timers, { setTimeout, clearTimeout });
      if (now === undefined) delete (performance as { now?: unknown }).now;
      else Object.defineProperty(performance, "now", now);
    };
  }

  [Symbol.dispose](): void {
    this.#restore();
  }

  /** The number of timers that are set now. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The number of timers that keep the process alive. */
  get keepingAlive(): number {
    return [...this.#timers].filter(({ isRefed }) => isRefed).length;
  }

  /** Turns the clock on by `ms`, and fires each timer at its time. */
  turn(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = [...this.#timers].reduce<FakeTimer | undefined>((a, b) => a && a.at <= b.at ? a : b, undefined);
      if (next === undefined || next.at > end) break;
      this.now = Math.max(this.now, next.at);
      this.#timers.delete(next);
      next.steps();
    }
    this.now = Math.max(this.now, end);
  }

  /** Turns the clock on by `ms` within a turn of the event loop: timers that are due by then fire later. */
  pass(ms: number): void {
    this.now += ms;
  }

  /** Turns the clock on by `ms` as a blocked event loop sees it: timers fire at its end. */
  block(ms: number): void {
    this.pass(ms);
    this.turn(0);
  }

  #set(steps: () => void, delay: number): unknown {
    const ms = delay >= 1 && delay <= MAX_TIMER_DELAY ? Math.trunc(delay) : 1;
    const timer = {
      at: this.now + ms - this.#earliness(),
      steps,
      isRefed: true,
      unref: () => void (timer.isRefed = false),
    };
    this.#timers.add(timer);
    this.made++;
    return timer;
  }
}
