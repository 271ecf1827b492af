import type { RetryOptions } from "../../batch/mod.ts";
import { Pause } from "../../timers/mod.ts";
import { codeOf, FULL, warn } from "../failure.ts";
import type { CurrentFile } from "./current_file.ts";

/** The maximum number of restarts of a write whose file was removed meanwhile. */
const MAX_REMOVALS = 3;
const REMOVED = "it was removed each time it was written to";

/** The codes of transient failures: no descriptor is free, or the disk is full or faulty. */
const TRANSIENT_CODES: readonly unknown[] = [...FULL, "EMFILE", "ENFILE", "EIO"];
/** The default of `retry`, for transient failures. */
const DEFAULT_RETRY: RetryOptions = { attempts: 60, delay: 1000 };

/**
 * Writes to the current file of a series, with retries. Bytes written to a file that was removed are written to the
 * next one; those of a write that has finally failed are truncated.
 */
export class SeriesAttempts {
  readonly #current: CurrentFile;
  readonly #retry: RetryOptions | undefined;
  readonly #onWarning: ((error: Error) => void) | undefined;
  /** The write that is to be attempted, or repeated after a pause. */
  #due: { readonly pieces: readonly Uint8Array[]; readonly length: number } | undefined = undefined;
  #isGivenUp = false;
  readonly #pause: Pause = new Pause();
  /** A process without other work ends during this pause, which rejects pending writes. */
  readonly #idlePause: Pause = new Pause({ keepsAlive: false });
  #isPatient = false;
  /** The reason of the last attempt's failure, if another attempt follows. */
  failure: Error | undefined = undefined;
  /** Called with the reason of each failed attempt that is to be repeated. */
  onFailure: ((error: unknown) => void) | undefined = undefined;

  /** `retry` sets the retries for all failures; without it, only transient ones are repeated. `onWarning` gets the first. */
  constructor(
    current: CurrentFile,
    retry: RetryOptions | undefined,
    onWarning: ((error: Error) => void) | undefined,
  ) {
    this.#current = current;
    this.#retry = retry;
    this.#onWarning = onWarning;
  }

  /** Sets whether transient failures are retried without limit, unless `retry` is given. */
  set isPatient(isPatient: boolean) {
    this.#isPatient = isPatient;
    this.#endPause();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    this.#due = { pieces, length };
    await this.start(() => this.settleNow()).finally(() => this.#due = undefined);
  }

  /** Calls `step` with retries. */
  async start(step: () => Promise<void> | void): Promise<void> {
    const { attempts, delay = 1000 } = this.#retry ?? DEFAULT_RETRY;
    try {
      for (let left = attempts;; left--) {
        try {
          return await step();
        } catch (error) {
          this.#isGivenUp ||= left <= 0 || !this.#mayPass(error);
          if (this.#isGivenUp) throw error; // flushSync() fails from now on, too
          this.#report(error as Error);
        }
        const isPatient = this.#retry === undefined && this.#isPatient;
        if (isPatient) left = attempts + 1;
        if (!this.#isGivenUp) await (isPatient ? this.#idlePause : this.#pause).wait(delay);
      }
    } finally {
      this.failure = undefined;
    }
  }

  /** Writes what waits for another attempt. */
  settleNow(): void {
    if (this.#due === undefined) return;
    if (this.#isGivenUp) throw new Error("the stream has failed");
    this.writeNow(this.#due.pieces, this.#due.length);
    this.#due = undefined;
    this.#endPause();
  }

  /** Writes bytes to the current file; if they are in none, because it was removed, to the next one. */
  writeNow(pieces: readonly Uint8Array[], length: number): void {
    const current = this.#current;
    for (let left = MAX_REMOVALS; left > 0; left--) {
      const file = current.open();
      current.measure();
      try {
        file.writeNow(pieces);
      } catch (error) {
        current.cut(file);
        current.fail("write", error);
      }
      if (current.isInPlace(file)) return current.add(length);
    }
    current.fail("write", new Error(REMOVED));
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.#endPause();
  }

  #endPause(): void {
    this.#pause.end();
    this.#idlePause.end();
  }

  #mayPass(error: unknown): boolean {
    return this.#retry === undefined ? TRANSIENT_CODES.includes(codeOf(error)) : codeOf(error) !== "EBUSY";
  }

  /** Warns of the first of repeated failures. */
  #report(error: Error): void {
    this.onFailure?.(error);
    const isTold = this.failure !== undefined;
    this.failure = error;
    const message = `${error.message}; it is tried again, and what is written meanwhile waits`;
    if (!isTold) warn(this.#onWarning, Object.assign(new Error(message, { cause: error }), { code: codeOf(error) }));
  }
}
