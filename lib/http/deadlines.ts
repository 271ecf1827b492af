import { clearTimeout, setTimeout } from "node:timers";

/** Something that is to happen by a time. It belongs to one {@link Deadlines} at a time. */
export interface Deadline {
  /** When it expires, of `performance.now()`; 0 while it is in no queue. Only {@link Deadlines} sets it. */
  expiresAt: number;
  previousDeadline: Deadline | undefined;
  nextDeadline: Deadline | undefined;
  /** Called when the time is over; it is in no queue then. */
  onExpired(): void;
}

/**
 * Timeouts of one length. They expire in the order in which they were set, so that a list does where each would else be a timer
 * of its own: setting and clearing one costs two links. One timer, which does not keep the process alive, looks after the first.
 */
export class Deadlines {
  readonly #ms: number;
  #first: Deadline | undefined = undefined;
  #last: Deadline | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  readonly #look = (): void => this.#expire();

  /**
   * Makes a queue.
   *
   * @param ms How long after `start` each expires, in ms.
   */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Sets a deadline, or sets it anew. */
  start(deadline: Deadline): void {
    if (deadline.expiresAt !== 0) this.stop(deadline);
    deadline.expiresAt = performance.now() + this.#ms;
    deadline.previousDeadline = this.#last;
    if (this.#last === undefined) this.#first = deadline;
    else this.#last.nextDeadline = deadline;
    this.#last = deadline;
    // A timer that finds nothing left is not set again: a busy client sets none a request.
    if (this.#timer === undefined) this.#watch(this.#ms);
  }

  /** Clears a deadline; does nothing if it is not set. */
  stop(deadline: Deadline): void {
    if (deadline.expiresAt === 0) return;
    deadline.expiresAt = 0;
    const { previousDeadline, nextDeadline } = deadline;
    if (previousDeadline === undefined) this.#first = nextDeadline;
    else previousDeadline.nextDeadline = nextDeadline;
    if (nextDeadline === undefined) this.#last = previousDeadline;
    else nextDeadline.previousDeadline = previousDeadline;
    deadline.previousDeadline = undefined;
    deadline.nextDeadline = undefined;
  }

  /** Leaves no timer behind while nothing is to expire; the next `start` sets one again. */
  rest(): void {
    if (this.#first !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #watch(ms: number): void {
    this.#timer = setTimeout(this.#look, ms);
    this.#timer.unref();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    while (this.#first !== undefined && this.#first.expiresAt <= now) {
      const deadline = this.#first;
      this.stop(deadline);
      deadline.onExpired();
    }
    if (this.#first !== undefined && this.#timer === undefined) this.#watch(Math.ceil(this.#first.expiresAt - now));
  }
}

/** The limit to a call as a whole, over its redirects and attempts. */
export class TotalDeadline implements Deadline {
  expiresAt = 0;
  previousDeadline: Deadline | undefined = undefined;
  nextDeadline: Deadline | undefined = undefined;
  readonly onExpired: () => void;
  readonly #deadlines: Deadlines;

  /** Runs from now on. */
  constructor(deadlines: Deadlines, onExpired: () => void) {
    this.#deadlines = deadlines;
    this.onExpired = onExpired;
    deadlines.start(this);
  }

  /** How much time is left, in ms. */
  get left(): number {
    return this.expiresAt - performance.now();
  }

  /** The call has ended. */
  stop(): void {
    this.#deadlines.stop(this);
  }
}
