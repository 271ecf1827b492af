import type { RetryOptions } from "../../batch/mod.ts";
import { Pause } from "../../timers/mod.ts";
import { PendingWrite } from "../appended_file.ts";
import { codeOf, FULL, warn } from "../failure.ts";
import type { OpenFile } from "../open_file.ts";
import { behind, writeFully } from "../write_fully.ts";
import type { CurrentFile } from "./current_file.ts";

/** The maximum number of restarts of a write whose file was removed meanwhile. */
const MAX_REMOVALS = 3;
const REMOVED = "it was removed each time it was written to";

/** The codes of transient failures: no descriptor is free, or the disk is full or faulty. */
const TRANSIENT_CODES: readonly unknown[] = [...FULL, "EMFILE", "ENFILE", "EIO"];
/** The default of `retry`, for transient failures. */
const DEFAULT_RETRY: RetryOptions = { attempts: 60, delay: 1000 };

interface Flight {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  /** The running system write; undefined while a failed attempt is about to be repeated. */
  underWay: PendingWrite | undefined;
  /** The file that took a part of the bytes before it was full, and its size then. */
  begun: { readonly file: OpenFile; readonly end: number; readonly taken: number } | undefined;
  /** Whether flushSync() has written the bytes. */
  isSettled: boolean;
}

/**
 * Writes to the current file of a series, with retries. Bytes written to a file that was removed are written to the
 * next one; those of a write that has finally failed are truncated.
 */
export class SeriesAttempts {
  readonly #current: CurrentFile;
  readonly #retry: RetryOptions | undefined;
  readonly #onWarning: ((error: Error) => void) | undefined;
  #flight: Flight | undefined = undefined;
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

  get isBusy(): boolean {
    return this.#flight !== undefined;
  }

  /** Sets whether transient failures are retried without limit, unless `retry` is given. */
  set isPatient(isPatient: boolean) {
    this.#isPatient = isPatient;
    this.#endPause();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    const flight: Flight = { pieces, length, underWay: undefined, begun: undefined, isSettled: false };
    this.#flight = flight;
    try {
      await this.#repeat((mayRepeat) => this.#isWritten(flight, mayRepeat));
    } finally {
      this.#flight = undefined;
    }
  }

  /** Calls `step`, which precedes the first write, with the same retries as writes. */
  start(step: () => Promise<void> | void): Promise<void> {
    return this.#repeat(async (mayRepeat) => {
      if (this.#isGivenUp) throw new Error("the stream has failed");
      try {
        await step();
        return true;
      } catch (error) {
        if (!this.#mayPass(error, mayRepeat)) throw error;
        return this.#report(error as Error);
      }
    });
  }

  async #repeat(attempt: (mayRepeat: boolean) => Promise<boolean>): Promise<void> {
    const { attempts, delay = 1000 } = this.#retry ?? DEFAULT_RETRY;
    try {
      for (let left = attempts; !await attempt(left > 0); left--) {
        const isPatient = this.#retry === undefined && this.#isPatient;
        if (isPatient) left = attempts + 1;
        if (this.#flight?.isSettled || this.#isGivenUp) continue;
        await (isPatient ? this.#idlePause : this.#pause).wait(delay);
      }
    } finally {
      this.failure = undefined;
    }
  }

  writeNow(pieces: readonly Uint8Array[], length: number, begun?: Flight["begun"]): void {
    const current = this.#current;
    for (let left = MAX_REMOVALS; left > 0; left--) {
      const file = current.open();
      try {
        for (const piece of behind(pieces, this.#takenBy(file, begun))) file.writeNow(piece);
      } catch (error) {
        current.cut(file);
        current.fail("write", error);
      }
      if (current.isInPlace(file)) return current.add(length);
    }
    current.fail("write", new Error(REMOVED));
  }

  settleNow(): void {
    const flight = this.#flight;
    if (flight === undefined || flight.isSettled) return;
    const current = this.#current;
    try {
      flight.underWay?.finishNow();
    } catch (error) {
      current.fail("flush", error);
    }
    const { pieces, length, begun } = flight;
    flight.begun = undefined;
    if (flight.underWay !== undefined && current.isInPlace(current.file!)) current.add(length);
    else this.writeNow(pieces, length, begun);
    flight.isSettled = true;
    this.#endPause();
  }

  giveUp(): void {
    this.#isGivenUp = true;
    const begun = this.#flight?.begun;
    if (begun !== undefined) this.#current.cut(begun.file);
    this.#endPause();
  }

  #endPause(): void {
    this.#pause.end();
    this.#idlePause.end();
  }

  /** Returns the number of bytes of a write that a file has taken; 0 if another program has emptied it. */
  #takenBy(file: OpenFile, begun: Flight["begun"]): number {
    if (begun?.file === file && file.size() >= begun.end) return begun.taken;
    this.#current.measure();
    return 0;
  }

  /** Attempts a write; returns whether all bytes are written, otherwise it is to be repeated. */
  async #isWritten(flight: Flight, mayRepeat: boolean): Promise<boolean> {
    const current = this.#current;
    for (let left = MAX_REMOVALS; left > 0; left--) {
      if (flight.isSettled) return true; // flushSync() ran in the pause before
      if (this.#isGivenUp) throw new Error("the stream has failed");
      let file: OpenFile | undefined;
      let taken = 0;
      let start = 0;
      try {
        file = current.open();
        taken = this.#takenBy(file, flight.begun);
        start = file.size();
        const pieces = behind(flight.pieces, taken);
        const underWay = flight.underWay = new PendingWrite(file, pieces);
        if (flight.length > 0) await writeFully(underWay, pieces).catch((error) => current.fail("write", error));
        if (flight.isSettled) return true;
        if (!current.isInPlace(file)) continue;
        current.add(flight.length);
        return true;
      } catch (error) {
        if (flight.isSettled) return true;
        flight.underWay = undefined;
        const repeats = this.#mayPass(error, mayRepeat);
        flight.begun = undefined;
        if (file !== undefined && repeats && FULL.includes(codeOf(error)) && file.size() >= start) {
          const end = file.size();
          flight.begun = { file, end, taken: Math.min(flight.length, taken + end - start) };
        } else if (file !== undefined) current.cut(file);
        if (!repeats) throw error;
        return this.#report(error as Error);
      }
    }
    return current.fail("write", new Error(REMOVED));
  }

  #mayPass(error: unknown, mayRepeat: boolean): boolean {
    if (!mayRepeat || this.#isGivenUp) return false;
    return this.#retry === undefined ? TRANSIENT_CODES.includes(codeOf(error)) : codeOf(error) !== "EBUSY";
  }

  /** Warns of the first of repeated failures; returns false. */
  #report(error: Error): false {
    this.onFailure?.(error);
    const isTold = this.failure !== undefined;
    this.failure = error;
    const message = `${error.message}; it is tried again, and what is written meanwhile waits`;
    if (!isTold) warn(this.#onWarning, Object.assign(new Error(message, { cause: error }), { code: codeOf(error) }));
    return false;
  }
}
