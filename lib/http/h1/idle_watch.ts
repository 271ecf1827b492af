import { clearTimeout, setTimeout } from "node:timers";

/** Longest delay of a timer. */
const MAX_DELAY = 0x7fffffff;

/**
 * Waits for a connection to have been idle for long enough. A busy one sets no timer a request: the timer that runs looks whether
 * the connection was used since, and goes on.
 */
export class IdleWatch {
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** When the timer fires, of `performance.now()`. */
  #firesAt = 0;
  /** When it will have been idle for long enough; Infinity while it is in use. */
  #expiresAt = Infinity;

  /**
   * Makes one that watches nothing yet.
   *
   * @param onIdle Called once per {@link start} at most, never within it.
   */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** The connection is idle from now on, and may be so for `ms`. */
  start(ms: number): void {
    if (ms === Infinity) return;
    this.#expiresAt = performance.now() + ms;
    if (this.#timer === undefined) this.#arm(ms);
    else if (this.#firesAt > this.#expiresAt) {
      clearTimeout(this.#timer);
      this.#arm(ms);
    }
  }

  /** It is in use. */
  stop(): void {
    this.#expiresAt = Infinity;
  }

  /** It is gone: no timer is left. */
  end(): void {
    this.stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(ms: number): void {
    const delay = Math.min(Math.ceil(ms), MAX_DELAY);
    this.#firesAt = performance.now() + delay;
    this.#timer = setTimeout(this.#look, delay);
    this.#timer.unref();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#expiresAt === Infinity) return;
    const left = this.#expiresAt - performance.now();
    if (left >= 1) this.#arm(left);
    else this.#onIdle();
  };
}
