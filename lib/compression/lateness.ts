import { setTimeout } from "node:timers";

/** The time in ms from one look at the clock to the next, while responses are compressed. */
const PERIOD = 100;
/** The lateness in ms from which the event loop is late. It is no longer when it is below half of that. */
const LATE = 20;

/** A clock in ms, and what has steps run after some ms. */
export interface Clock {
  now(): number;
  after(delay: number, steps: () => void): void;
}

const ours: Clock = {
  now: () => performance.now(),
  after: (delay, steps) => void setTimeout(steps, delay).unref(),
};

/** Measures how late the event loop is with its timers, as long as somebody asks. */
export class Lateness {
  readonly #clock: Clock;
  #isMeasuring = false;
  #wasAsked = false;
  #isLate = false;

  constructor(clock: Clock = ours) {
    this.#clock = clock;
  }

  /** Whether the event loop was late when last measured. */
  isLate(): boolean {
    this.#wasAsked = true;
    if (!this.#isMeasuring) this.#measure();
    return this.#isLate;
  }

  #measure(): void {
    this.#isMeasuring = true;
    this.#wasAsked = false;
    const due = this.#clock.now() + PERIOD;
    this.#clock.after(PERIOD, () => {
      const lateness = this.#clock.now() - due;
      this.#isLate = this.#wasAsked && lateness >= (this.#isLate ? LATE / 2 : LATE);
      if (this.#wasAsked) this.#measure();
      else this.#isMeasuring = false;
    });
  }
}
