/** The longest time that timers take, in ms: longer ones end at once. */
const LONGEST = 2 ** 31 - 1;

/** The end of an attempt: when its time is over, or a signal says so. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** Whether the time is over. */
  isOver = false;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#controller.abort(outer.reason);
    else outer?.addEventListener("abort", this.#onAbort);
    this.restart(ms);
  }

  /** Aborted at the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the countdown. */
  restart(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new Error(`it took more than ${ms} ms`));
    }, Math.min(ms, LONGEST));
  }

  /** Waits for `promise`, as long as there is time. */
  async within<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    let onAbort: (() => void) | undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort);
    });
    promise.catch(() => {}); // it may fail after the end, when nobody waits any more
    try {
      return await Promise.race([promise, ended]);
    } finally {
      signal.removeEventListener("abort", onAbort!);
    }
  }

  /** Stops the countdown, and its listener for aborts. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#controller.abort(this.#outer!.reason);
}

/**
 * Waits for some time.
 *
 * @throws {unknown} the reason of `signal`, once that is aborted.
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
