import timers from "node:timers";

/** Longest delay in ms that runtimes accept; they fire timers with a longer one after 1 ms. */
export const MAX_TIMER_DELAY: number = 2 ** 31 - 1;

/** Options of {@linkcode Timer}, {@linkcode Interval} and {@linkcode sleep}. */
export interface TimerOptions {
  /** Whether the process stays alive for it. Default: true, as for timers of the platform. */
  readonly keepsAlive?: boolean;
}

/**
 * A timer that is set again and again. It never fires early, and waits of any length are whole: longer ones than
 * {@linkcode MAX_TIMER_DELAY} are made of several.
 *
 * A later due time than the one before costs two comparisons: the runtime's timer stays as it is, and is set anew when it
 * fires too early. So a timer that each use of a connection puts off sets no timer of the runtime a use.
 */
export class Timer {
  readonly #onDue: (lateMs: number) => void;
  readonly #keepsAlive: boolean;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** When the runtime's timer fires, of `performance.now()`; Infinity if there is none. */
  #firesAt = Infinity;
  #armedAt = 0;
  /** The function that set it: once tests have replaced that, or put it back, the timer may never fire. */
  #setBy: unknown = undefined;
  #due = Infinity;

  /**
   * Creates a timer that is not set.
   *
   * @param onDue Called once each time it was set and not stopped, never within `setDue()` or `start()`. It is passed how
   * many ms after the due time that is: many if the event loop was blocked.
   */
  constructor(onDue: (lateMs: number) => void, { keepsAlive = true }: TimerOptions = {}) {
    this.#onDue = onDue;
    this.#keepsAlive = keepsAlive;
  }

  /** Whether it is to fire. */
  get isSet(): boolean {
    return this.#due !== Infinity && this.#willFire;
  }

  /** Sets it, or sets it anew, to a time of `performance.now()`; Infinity for never, which may leave the runtime's timer. */
  setDue(at: number, now?: number): void {
    this.#due = at;
    if (at === Infinity) {
      if (this.#keepsAlive) this.stop();
    } else if (!(this.#firesAt <= at) || !this.#willFire) {
      this.#arm(now ?? performance.now());
    }
  }

  /**
   * Whether the runtime has a timer that is still to fire, be it overdue since the event loop is busy: not one of a clock
   * that tests have replaced since.
   */
  get #willFire(): boolean {
    return this.#timer !== undefined && this.#setBy === timers.setTimeout;
  }

  /** Sets it, or sets it anew, to fire after `ms`. */
  start(ms: number): void {
    const now = performance.now();
    this.setDue(now + ms, now);
  }

  /** Stops it, and leaves no timer of the runtime. */
  stop(): void {
    this.#due = Infinity;
    this.#firesAt = Infinity;
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(now: number): void {
    timers.clearTimeout(this.#timer);
    const delay = Math.min(Math.max(Math.ceil(this.#due - now), 1), MAX_TIMER_DELAY);
    this.#armedAt = now;
    this.#firesAt = now + delay;
    this.#setBy = timers.setTimeout;
    this.#timer = timers.setTimeout(this.#look, delay);
    if (!this.#keepsAlive) (this.#timer as Partial<NodeJS.Timeout>).unref?.(); // replaced timers may be numbers
  }

  readonly #look = (): void => {
    const wasWhole = this.#firesAt >= this.#due;
    this.#timer = undefined;
    this.#firesAt = Infinity;
    if (this.#due === Infinity) return;
    const now = performance.now();
    // A clock that a test has stopped, or put back, never comes to the due time.
    const stands = now <= this.#armedAt;
    if (now < this.#due && !(stands && wasWhole)) return this.#arm(now);
    const late = Math.max(now - this.#due, 0);
    this.#due = Infinity;
    this.#onDue(late);
  };
}

/** Repeated calls of a function, at least `ms` apart; a blocked event loop does not make up for missed ones. */
export class Interval {
  readonly #timer: Timer;

  /** @param onTurn Called for the first time after `ms`. If it throws, the next call comes nevertheless. */
  constructor(ms: number, onTurn: () => void, options?: TimerOptions) {
    this.#timer = new Timer(() => {
      this.#timer.start(ms);
      onTurn();
    }, options);
    this.#timer.start(ms);
  }

  /** Ends the calls. */
  stop(): void {
    this.#timer.stop();
  }
}
