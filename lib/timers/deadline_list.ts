import { Timer, type TimerOptions } from "./timer.ts";

/** An object with a deadline. It belongs to one {@linkcode DeadlineList} at a time, which sets its links. */
export interface Timed {
  /** The deadline by `performance.now()`; 0 without one. */
  expiresAt: number;
  previousTimed: Timed | undefined;
  nextTimed: Timed | undefined;
  /** Called after the deadline, which is then cleared. */
  onExpired(): void;
}

/**
 * Deadlines of equal length, which expire in the order in which they were set. One timer, which does not keep the
 * process alive, serves all, so that setting or clearing a deadline only changes two links.
 */
export class DeadlineList {
  readonly #ms: number;
  #first: Timed | undefined = undefined;
  #last: Timed | undefined = undefined;
  readonly #timer: Timer;
  readonly #rests: boolean;
  #due = 0;

  /**
   * Creates an empty list. `ms`: the time from `start()` to the deadline, of any length, Infinity for none. `rests`: no
   * timer stays while there is no deadline, for use with many lists.
   */
  constructor(ms: number, { rests = false, ...options }: Omit<TimerOptions, "keepsAlive"> & { rests?: boolean } = {}) {
    this.#ms = ms;
    this.#rests = rests;
    this.#timer = new Timer((late) => this.#expire(this.#due + late), { ...options, keepsAlive: false });
  }

  start(timed: Timed): void {
    if (timed.expiresAt !== 0) this.stop(timed);
    const now = performance.now();
    timed.expiresAt = now + this.#ms;
    timed.previousTimed = this.#last;
    if (this.#last !== undefined) this.#last.nextTimed = timed;
    this.#last = timed;
    this.#first ??= timed;
    // The timer of an earlier deadline stays, so that a client with consecutive requests sets none for each.
    this.#setTimer(this.#first, now);
  }

  /** Clears the deadline of an object; does nothing if it has none. */
  stop(timed: Timed): void {
    if (timed.expiresAt === 0) return;
    timed.expiresAt = 0;
    const { previousTimed, nextTimed } = timed;
    if (previousTimed === undefined) this.#first = nextTimed;
    else previousTimed.nextTimed = nextTimed;
    if (nextTimed === undefined) this.#last = previousTimed;
    else nextTimed.previousTimed = previousTimed;
    timed.previousTimed = undefined;
    timed.nextTimed = undefined;
    if (this.#rests) this.rest();
  }

  /** Clears the timer while there is no deadline; the next `start()` sets it again. */
  rest(): void {
    if (this.#first === undefined) this.#timer.stop();
  }

  #setTimer({ expiresAt }: Timed, now?: number): void {
    this.#due = expiresAt;
    this.#timer.setDue(expiresAt, now);
  }

  #expire(time: number): void {
    try {
      while (this.#first !== undefined && this.#first.expiresAt <= time) {
        const timed = this.#first;
        this.stop(timed);
        timed.onExpired();
      }
    } finally {
      if (this.#first !== undefined) this.#setTimer(this.#first); // also if a callback threw
    }
  }
}

/** A deadline for an owner that is not {@linkcode Timed} itself, or is so for another deadline. */
export class Deadline implements Timed {
  expiresAt = 0;
  previousTimed: Timed | undefined = undefined;
  nextTimed: Timed | undefined = undefined;
  readonly onExpired: () => void;
  readonly #list: DeadlineList;

  constructor(list: DeadlineList, onExpired: () => void) {
    this.#list = list;
    this.onExpired = onExpired;
    list.start(this);
  }

  /** The remaining time in ms. */
  get left(): number {
    return this.expiresAt - performance.now();
  }

  stop(): void {
    this.#list.stop(this);
  }
}
