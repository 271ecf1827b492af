import type { Deadline, Deadlines } from "../deadlines.ts";

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
