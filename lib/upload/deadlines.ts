import type { Pace } from "./pace.ts";
import type { InnerOptions, ReceiveOptions } from "./save_options.ts";
import { SenderWatch } from "./sender_watch.ts";
import { UploadError } from "./upload_error.ts";

/** Ends an upload when its signal says so, its time is over, or its sender is too slow. */
export class Deadlines {
  readonly #signal: AbortSignal | undefined;
  readonly #watch: SenderWatch;
  readonly #expire: (reason: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #lookTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /**
   * Begins to watch.
   *
   * @param pace How the body comes.
   * @param expire Called with the reason, once or not at all.
   */
  constructor(options: ReceiveOptions & InnerOptions, pace: Pace, expire: (reason: unknown) => void) {
    const { signal, timeout = Infinity } = options;
    this.#signal = signal;
    this.#watch = new SenderWatch(pace, options);
    this.#expire = expire;
    signal?.addEventListener("abort", this.#onAbort);
    if (timeout !== Infinity) {
      const words = `The body was not received within ${timeout} ms`;
      this.#timer = setTimeout(() => this.#end(new UploadError("TIMEOUT", words)), timeout);
    }
    if (this.#watch.interval !== Infinity) this.#wait();
    if (signal?.aborted) this.#onAbort();
  }

  /** Watches no more. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#lookTimer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  /** Looks at the sender from time to time: no timer is set anew for each chunk. */
  #wait(): void {
    this.#lookTimer = setTimeout(() => {
      try {
        const failure = this.#watch.look();
        if (failure === undefined) this.#wait();
        else this.#end(failure);
      } catch (error) {
        this.#end(error); // as of a file whose size cannot be told
      }
    }, this.#watch.interval);
  }

  readonly #onAbort = (): void => this.#end(this.#signal!.reason);

  #end(reason: unknown): void {
    this.stop();
    this.#expire(reason);
  }
}
