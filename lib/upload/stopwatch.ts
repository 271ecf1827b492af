/** Adds up times. */
export class Stopwatch {
  #ms = 0;
  #since: number | undefined = undefined;

  /** All times between a start and a stop, with the one that runs, in ms. */
  get ms(): number {
    return this.#ms + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  /** Runs from now on. */
  start(): void {
    this.#since ??= performance.now();
  }

  /** Stands still until the next start. */
  stop(): void {
    this.#ms = this.ms;
    this.#since = undefined;
  }
}
