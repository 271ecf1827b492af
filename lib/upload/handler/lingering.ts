/** Most bytes that are still taken from a sender who has been answered. */
export const MOST_BYTES: number = 1024 * 1024;
/**
 * How long a sender has, in ms, to notice that it was answered. A connection that is closed while it sends is reset,
 * and what it has not read then may be lost.
 */
export const MOST_MS = 2000;
/** Fewest bytes that end a connection: less is waited for, so that it can be used again. */
export const LITTLE: number = 64 * 1024;

/** A time that will be over. */
export class Countdown {
  /** Fulfilled when it is over. */
  readonly over: Promise<void>;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#timer = setTimeout(resolve, ms);
  }

  /** Nobody waits for it any more. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
