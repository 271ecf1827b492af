/** The first pause, in ms; each further one is twice as long. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2000;

/**
 * Attempts in a row at a connection that failed while requests waited for it. They are repeated after pauses as long as other
 * connections are open: those may serve the requests soon; or never, if their own take for ever.
 */
export class MissedAttempts {
  readonly #patience: number;
  readonly #again: () => void;
  #count = 0;
  #since = 0;
  #pause: ReturnType<typeof setTimeout> | undefined = undefined;

  /**
   * Begins without any.
   *
   * @param patience For how long attempts are repeated while no request is served, in ms.
   * @param again Called after each pause.
   */
  constructor(patience: number, again: () => void) {
    this.#patience = patience;
    this.#again = again;
  }

  /** Whether the next attempt is not due yet. */
  get pausing(): boolean {
    return this.#pause !== undefined;
  }

  /** Counts a failed attempt, and tries again after a pause. Returns false once attempts have failed for too long. */
  add(): boolean {
    const now = performance.now();
    if (this.#count++ === 0) this.#since = now;
    if (now - this.#since > this.#patience) return false;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#again();
    }, Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(this.#count - 1, 10)));
    return true;
  }

  /** A request was served, or none waits: the next that fails is the first again. */
  clear(): void {
    if (this.#count === 0) return;
    this.#count = 0;
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }
}
