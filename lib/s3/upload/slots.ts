/** A number of places: who finds none waits for one, in turn. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Takes a place.
   *
   * @throws {unknown} the reason of `signal`, once that is aborted.
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const take = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        signal.removeEventListener("abort", leave);
        reject(signal.reason);
      };
      this.#waiting.push(take);
      signal.addEventListener("abort", leave);
    });
  }

  /** Frees a slot, or hands it to the next waiter. */
  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
