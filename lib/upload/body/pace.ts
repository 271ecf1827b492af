import { Interval, Timer } from "../../timers/mod.ts";
import type { InnerOptions, SaveBodyOptions } from "./upload_options.ts";
import { UploadError } from "./upload_error.ts";

/** Ends an upload when its signal says so, its time is over, or its sender is too slow. */
export class Deadlines {
  readonly #signal: AbortSignal | undefined;
  readonly #watch: SenderWatch;
  readonly #expire: (reason: unknown) => void;
  readonly #timer: Timer | undefined;
  /** No timer is set anew for each chunk. */
  readonly #looks: Interval | undefined;

  constructor(options: SaveBodyOptions & InnerOptions, pace: Pace, expire: (reason: unknown) => void) {
    const { signal, timeout = Infinity } = options;
    this.#signal = signal;
    this.#watch = new SenderWatch(pace, options);
    this.#expire = expire;
    signal?.addEventListener("abort", this.#onAbort);
    if (timeout !== Infinity) {
      const words = `The body was not received within ${timeout} ms`;
      this.#timer = new Timer(() => this.#end(new UploadError("TIMEOUT", words)));
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
/** The number of looks at a sender within the shortest time that counts. */
const LOOKS = 10;

/** Finds out whether a sender is too slow, by looking at its pace now and then. */
export class SenderWatch {
  /** Milliseconds from one look to the next; Infinity if there is nothing to look for. */
  readonly interval: number;
  readonly #pace: Pace;
  readonly #idleTimeout: number;
  readonly #minRate: number;
  readonly #window: number;
  #last: Pace;
  #silence = 0;
  /** Bytes received in the current window, and its milliseconds so far. */
  #bytes = 0;
  #waited = 0;

  constructor(pace: Pace, options: SaveBodyOptions & InnerOptions) {
    const { idleTimeout = Infinity, minRate = 0 } = options;
    // A sender that may be silent for longer than a window may have sent nothing in it.
    const { rateWindow = Math.max(WINDOW, idleTimeout === Infinity ? 0 : idleTimeout) } = options;
    this.#pace = pace;
    this.#idleTimeout = idleTimeout;
    this.#minRate = minRate;
    this.#window = minRate > 0 ? rateWindow : Infinity;
    this.interval = Math.max(1, Math.min(idleTimeout, this.#window) / LOOKS);
    this.#last = { bytes: 0, waited: pace.waited };
  }

  /** Looks at the pace, each {@linkcode interval}; returns the failure of a sender who is too slow, if it is. */
  look(): UploadError | undefined {
    const { bytes, waited } = this.#pace;
    const received = bytes - this.#last.bytes;
    // A look that comes late tells that this process was busy, or asleep: the sender's bytes may wait unread.
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

export interface Pace {
  readonly bytes: number;
  /** Milliseconds in which the sender kept us waiting so far: not those in which it was held back. */
  readonly waited: number;
}
