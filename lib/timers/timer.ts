import timers from "node:timers";

/** The maximum delay in ms that runtimes accept; they fire timers with a longer one after 1 ms. */
export const MAX_TIMER_DELAY: number = 2 ** 31 - 1;

/** The key that marks a test's replacement of the runtime's timers as one that keeps each timer until it fires. */
export const KEEPS_TIMERS: unique symbol = Symbol("keepsTimers");
let setByRuntime: unknown;
/** The time in ms by which a runtime may fire a timer early, with a margin. */
const ROUNDING = 2;
/** The lateness of a timer in ms from which the program was blocked: the timer then waits once for half as long again. */
const LATE_TIMER = 1000;

/** Options of {@linkcode Timer}, {@linkcode Interval} and {@linkcode sleep}. */
export interface TimerOptions {
  /** Whether the timer keeps the process alive. Default: true, as for the platform's timers. */
  readonly keepsAlive?: boolean;
  /**
   * Calls back once the event loop has polled all sockets. For deadlines of network events: before a late timer calls
   * back, events that arrived meanwhile are handled, which may stop or postpone it.
   */
  readonly afterPoll?: ((callback: () => void) => void) | undefined;
}

/**
 * A reusable timer that never fires early; waits longer than {@linkcode MAX_TIMER_DELAY} are split. Postponing it costs
 * two comparisons: the runtime's timer stays, and is set again when it fires too early.
 */
export class Timer {
  readonly #onDue: (lateMs: number) => void;
  readonly #keepsAlive: boolean;
  readonly #afterPoll: TimerOptions["afterPoll"];
  /** Whether the timer is waiting for the poll before it calls back. */
  #isLooking = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** The time by `performance.now()` at which the runtime's timer fires; Infinity without one. */
  #firesAt = Infinity;
  /** The function that set the runtime's timer. */
  #setBy: unknown = undefined;
  /** The generation of valid native timers: earlier ones were cleared, or belong to a test's former clock. */
  #generation = 0;
  #due = Infinity;

  /**
   * Creates a timer that is not set. `onDue` is called once each time that it was set and not stopped, never within
   * `setDue()` or `start()`; its argument is the lateness in ms, which is large if the event loop was blocked.
   */
  constructor(onDue: (lateMs: number) => void, { keepsAlive = true, afterPoll }: TimerOptions = {}) {
    this.#onDue = onDue;
    this.#keepsAlive = keepsAlive;
    this.#afterPoll = afterPoll;
  }

  get isSet(): boolean {
    if (this.#due === Infinity) return false;
    const now = performance.now();
    if (this.#firesAt >= now) return this.#setBy === timers.setTimeout;
    if (this.#isReplaced) return false;
    this.#set(now);
    return true;
  }

  /** Sets the due time by `performance.now()`; Infinity for none. */
  setDue(at: number, now?: number): void {
    this.#due = at;
    if (at === Infinity) {
      if (this.#keepsAlive) this.stop();
      return;
    }
    if (this.#isLooking) return; // the poll ends soon
    const time = now ?? performance.now();
    if (!(this.#firesAt <= at) || this.#isReplaced) this.#arm(time);
    // An overdue timer is late, like the event loop, or a test's clock has dropped it: sets another one in addition.
    else if (this.#firesAt < time) this.#set(time);
  }

  /** Whether a test has replaced the runtime's timers, whose timers may disappear at any time. */
  get #isReplaced(): boolean {
    const { setTimeout } = timers;
    return this.#setBy !== setTimeout || !keepsTimers(setTimeout);
  }

  /** Sets or resets the timer to fire after `ms`. */
  start(ms: number): void {
    const now = performance.now();
    this.setDue(now + ms, now);
  }

  stop(): void {
    this.#due = Infinity;
    this.#clear();
  }

  #clear(): void {
    // A test's clock throws for a timer that it has dropped, or clears another one. A timer of the runtime stays set.
    if (!this.#isReplaced) timers.clearTimeout(this.#timer);
    else (this.#timer as Partial<NodeJS.Timeout> | undefined)?.unref?.();
    this.#timer = undefined;
    this.#firesAt = Infinity;
    this.#isLooking = false;
    this.#generation++;
  }

  #arm(now: number): void {
    this.#clear();
    this.#set(now);
  }

  #set(now: number, ms: number = this.#due - now): void {
    const delay = Math.min(Math.max(Math.ceil(ms), 1), MAX_TIMER_DELAY);
    this.#firesAt = now + delay;
    this.#setBy = timers.setTimeout;
    this.#timer = timers.setTimeout(this.#look, delay, this.#generation, this.#firesAt, now);
    if (!this.#keepsAlive) (this.#timer as Partial<NodeJS.Timeout>).unref?.(); // replaced timers may be numbers
  }

  readonly #look = (generation: number, firesAt: number, setAt: number): void => {
    if (generation !== this.#generation) return;
    // Runtimes fire at most a millisecond early: a larger difference comes from a test's clock.
    const wasWhole = firesAt >= this.#due;
    const hasWaited = this.#isLooking;
    this.#clear();
    if (this.#due === Infinity) return;
    const now = performance.now();
    const stands = wasWhole && (this.#due - now > ROUNDING || now === setAt);
    if (now < this.#due && !stands) return this.#arm(now);
    const at = Math.max(now, this.#due);
    if (this.#afterPoll === undefined) return this.#end(at);
    this.#isLooking = true;
    if (now - firesAt >= LATE_TIMER && !hasWaited) return this.#set(now, LATE_TIMER / 2);
    const looks = this.#generation;
    this.#afterPoll(() => looks === this.#generation && this.#end(at));
  };

  /** Calls `onDue` if the due time is not later than `at`; otherwise waits again. */
  #end(at: number): void {
    this.#isLooking = false;
    const late = at - this.#due;
    if (this.#due === Infinity) return;
    if (late < 0) return this.#arm(performance.now());
    this.#due = Infinity;
    this.#onDue(late);
  }
}

/** Whether a function is the runtime's own, or keeps its timers like that. Functions of test clocks are bound, or lead to the clock. */
function keepsTimers(set: typeof timers.setTimeout): boolean {
  if (setByRuntime === undefined && set.name === "setTimeout" && !("clock" in set)) setByRuntime = set;
  return set === setByRuntime || KEEPS_TIMERS in set;
}

/** A reason to keep the process alive, instead of a system handle. */
export class Hold {
  readonly #timer: Timer = new Timer(() => this.set(true));

  set(isHeld: boolean): void {
    if (isHeld) this.#timer.start(MAX_TIMER_DELAY);
    else this.#timer.stop();
  }
}

/** Repeated calls of a function, at least `ms` apart; calls missed while the event loop was blocked are not made up for. */
export class Interval {
  readonly #timer: Timer;

  /** @param onTurn Called for the first time after `ms`. If it throws, the calls still continue. */
  constructor(ms: number, onTurn: () => void, options?: TimerOptions) {
    this.#timer = new Timer(() => {
      this.#timer.start(ms);
      onTurn();
    }, options);
    this.#timer.start(ms);
  }

  stop(): void {
    this.#timer.stop();
  }
}
