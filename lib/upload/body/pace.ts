import { afterPoll } from "../../runtime/mod.ts";
import { Interval, Timer } from "../../timers/mod.ts";
import type { InnerOptions, SaveBodyOptions } from "./upload_options.ts";
import { UploadError } from "./upload_error.ts";

/** Ends an upload when its signal says so, its time is over, or its sender is too slow. */
export class BodyDeadlines {
  readonly #signal: AbortSignal | undefined;
  readonly #watch: RateMonitor;
  readonly #expire: (reason: unknown) => void;
  readonly #timer: Timer | undefined;
  /** The interval of a whole upload: a timer for each chunk would cost more. */
  readonly #looks: Interval | undefined;

  constructor(options: SaveBodyOptions & InnerOptions, pace: TransferProgress, expire: (reason: unknown) => void) {
    const { signal, timeout = Infinity } = options;
    this.#signal = signal;
    this.#watch = new RateMonitor(pace, options);
    this.#expire = expire;
    signal?.addEventListener("abort", this.#onAbort);
    if (timeout !== Infinity) {
      const message = `The body was not received within ${timeout} ms`;
      this.#timer = new Timer(() => this.#end(new UploadError("TIMEOUT", message)), { afterPoll });
      this.#timer.start(timeout);
    }
    if (this.#watch.interval !== Infinity) this.#looks = new Interval(this.#watch.interval, () => this.#look());
    if (signal?.aborted) this.#onAbort();
  }

  stop(): void {
    this.#timer?.stop();
    this.#looks?.stop();
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  #look(): void {
    try {
      const failure = this.#watch.look();
      if (failure !== undefined) this.#end(failure);
    } catch (error) {
      this.#end(error); // as of a file whose size is unknown
    }
  }

  readonly #onAbort = (): void => this.#end(this.#signal!.reason);

  #end(reason: unknown): void {
    this.stop();
    this.#expire(reason);
  }
}

/** The shortest time that a rate is averaged over, in ms. */
const WINDOW = 30_000;
/** The number of checks of a sender within the shortest window. */
const SAMPLES_PER_WINDOW = 10;

/** Finds out whether a sender is too slow, by measuring its rate at intervals. */
export class RateMonitor {
  /** The milliseconds between two checks; Infinity if there is no limit to check. */
  readonly interval: number;
  readonly #pace: TransferProgress;
  readonly #idleTimeout: number;
  readonly #minRate: number;
  readonly #window: number;
  #last: TransferProgress;
  #silence = 0;
  /** Bytes received in the current window, and the duration of it so far in ms. */
  #bytes = 0;
  #waited = 0;

  constructor(pace: TransferProgress, options: SaveBodyOptions & InnerOptions) {
    const { idleTimeout = Infinity, minRate = 0 } = options;
    // The window is no shorter than `idleTimeout`, within which a sender may be silent.
    const { rateWindow = Math.max(WINDOW, idleTimeout === Infinity ? 0 : idleTimeout) } = options;
    this.#pace = pace;
    this.#idleTimeout = idleTimeout;
    this.#minRate = minRate;
    this.#window = minRate > 0 ? rateWindow : Infinity;
    this.interval = Math.max(1, Math.min(idleTimeout, this.#window) / SAMPLES_PER_WINDOW);
    this.#last = { bytes: 0, waited: pace.waited };
  }

  /** Checks the rate, once each {@linkcode interval}; returns an error if the sender is too slow. */
  look(): UploadError | undefined {
    const { bytes, waited } = this.#pace;
    const received = bytes - this.#last.bytes;
    // A late check means that this process was busy or asleep, and that bytes may wait unread.
    const ms = Math.min(waited - this.#last.waited, 2 * this.interval);
    this.#last = { bytes, waited };
    this.#silence = received > 0 ? 0 : this.#silence + ms;
    if (this.#silence >= this.#idleTimeout) {
      return new UploadError("TIMEOUT", `Nothing of the body was received for ${this.#idleTimeout} ms`);
    }
    this.#bytes += received;
    this.#waited += ms;
    return this.#waited < this.#window ? undefined : this.#endWindow();
  }

  #endWindow(): UploadError | undefined {
    const [bytes, seconds] = [this.#bytes, this.#waited / 1000];
    this.#bytes = 0;
    this.#waited = 0;
    if (bytes >= this.#minRate * seconds) return undefined;
    const found = `${bytes} bytes came in ${Number(seconds.toFixed(1))} s`;
    const message = `The body comes too slowly: ${found}, and at least ${this.#minRate} a second must`;
    return new UploadError("TIMEOUT", message);
  }
}

export interface TransferProgress {
  readonly bytes: number;
  /** Milliseconds spent waiting for the sender so far, without those in which backpressure held it back. */
  readonly waited: number;
}
