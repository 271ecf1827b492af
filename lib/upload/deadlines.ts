import type { ReceiveOptions } from "./save_options.ts";
import { UploadError } from "./upload_error.ts";

/** Ends an upload when its signal says so, or its time is over. */
export class Deadlines {
  readonly #signal: AbortSignal | undefined;
  readonly #silence: () => number;
  readonly #expire: (reason: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /**
   * Begins to watch.
   *
   * @param silence For how many ms the sender has kept us waiting.
   * @param expire Called with the reason, once or not at all.
   */
  constructor(options: ReceiveOptions, silence: () => number, expire: (reason: unknown) => void) {
    const { signal, timeout = Infinity, idleTimeout = Infinity } = options;
    this.#signal = signal;
    this.#silence = silence;
    this.#expire = expire;
    signal?.addEventListener("abort", this.#onAbort);
    if (timeout !== Infinity) {
      const words = `The body was not received within ${timeout} ms`;
      this.#timer = setTimeout(() => this.#end(new UploadError("TIMEOUT", words)), timeout);
    }
    if (idleTimeout !== Infinity) this.#watchIdle(idleTimeout, idleTimeout);
    if (signal?.aborted) this.#onAbort();
  }

  /** Watches no more. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  /** Looks after `delay` ms whether the sender has been silent for too long: no timer is set anew for each chunk. */
  #watchIdle(idleTimeout: number, delay: number): void {
    this.#idleTimer = setTimeout(() => {
      const left = idleTimeout - this.#silence();
      if (left > 0) return this.#watchIdle(idleTimeout, left);
      this.#end(new UploadError("TIMEOUT", `Nothing of the body was received for ${idleTimeout} ms`));
    }, delay);
  }

  readonly #onAbort = (): void => this.#end(this.#signal!.reason);

  #end(reason: unknown): void {
    this.stop();
    this.#expire(reason);
  }
}
