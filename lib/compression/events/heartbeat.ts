import { clearTimeout, setTimeout } from "node:timers";

/** A timer that reports when nothing has happened for a while. */
export class Heartbeat {
  readonly #period: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  /**
   * @param period The time in ms; 0 for never.
   * @param onSilence Called when it has passed since the last beat.
   */
  constructor(period: number, onSilence: () => void) {
    this.#period = period;
    this.#onSilence = onSilence;
  }

  /** Begins to wait, if it does not yet. */
  start(): void {
    if (this.#period === 0 || this.#timer !== undefined) return;
    this.beat();
    this.#wait(this.#period);
  }

  /** Something has happened. */
  beat(): void {
    this.#last = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      const left = this.#last + this.#period - performance.now();
      if (left <= 0) this.#onSilence();
      this.#wait(left <= 0 ? this.#period : Math.max(left, 1));
    }, ms);
    this.#timer.unref();
  }
}
