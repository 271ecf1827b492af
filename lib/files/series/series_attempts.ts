import type { RetryOptions } from "../../batch/mod.ts";
import { Pause } from "../../timers/mod.ts";
import { codeOf } from "../failure.ts";
import { type OpenFile, writeFully } from "../open_file.ts";
import { UnderWay } from "../appended_file.ts";
import type { CurrentFile } from "./current_file.ts";

/** How often a write is begun anew because its file was removed under it. */
const MOST_REMOVALS = 3;
const REMOVED = "it was removed each time it was written to";

/** Bytes that are being written. */
interface Flight {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  /** The system's write; undefined while a failed attempt is about to be repeated. */
  underWay: UnderWay | undefined;
  /** Whether flushSync() has seen to them. */
  isSettled: boolean;
}

/**
 * Writes to the current file of a series, until they have succeeded or been tried often enough. Bytes that were written
 * to a file that is gone by then are written to the next one; those of a write that failed are cut off again.
 */
export class SeriesAttempts {
  readonly #current: CurrentFile;
  readonly #attempts: number;
  readonly #delay: number;
  #flight: Flight | undefined = undefined;
  #isGivenUp = false;
  readonly #pause: Pause = new Pause();

  constructor(current: CurrentFile, { attempts, delay = 1000 }: RetryOptions = { attempts: 0 }) {
    this.#current = current;
    this.#attempts = attempts;
    this.#delay = delay;
  }

  /** Whether a write is under way. */
  get isBusy(): boolean {
    return this.#flight !== undefined;
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    const flight: Flight = { pieces, length, underWay: undefined, isSettled: false };
    this.#flight = flight;
    try {
      for (let attempt = 0; !await this.#isWritten(flight, attempt >= this.#attempts); attempt++) {
        if (!flight.isSettled && !this.#isGivenUp) await this.#pause.wait(this.#delay);
      }
    } finally {
      this.#flight = undefined;
    }
  }

  writeNow(pieces: readonly Uint8Array[], length: number): void {
    const current = this.#current;
    for (let left = MOST_REMOVALS; left > 0; left--) {
      const file = current.open();
      try {
        for (const piece of pieces) file.writeNow(piece);
      } catch (error) {
        current.cut(file);
        current.fail("write", error);
      }
      if (current.isInPlace(file)) return current.add(length);
    }
    current.fail("write", new Error(REMOVED));
  }

  /** Brings the write that is under way to its end, at once. */
  settleNow(): void {
    const flight = this.#flight;
    if (flight === undefined || flight.isSettled) return;
    const current = this.#current;
    try {
      flight.underWay?.finishNow();
    } catch (error) {
      current.fail("flush", error);
    }
    if (flight.underWay !== undefined && current.isInPlace(current.file!)) current.add(flight.length);
    else this.writeNow(flight.pieces, flight.length);
    flight.isSettled = true;
    this.#pause.end();
  }

  /** Tries nothing again. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#pause.end();
  }

  /** Makes an attempt to write; returns whether all is written, or else is to be tried again. */
  async #isWritten(flight: Flight, isLast: boolean): Promise<boolean> {
    const current = this.#current;
    for (let left = MOST_REMOVALS; left > 0; left--) {
      if (flight.isSettled) return true; // in the pause before
      if (this.#isGivenUp) throw new Error("the stream has failed");
      let file: OpenFile | undefined;
      try {
        file = current.open();
        const underWay = flight.underWay = new UnderWay(file, flight.pieces);
        if (flight.length > 0) await writeFully(underWay, flight.pieces).catch((error) => current.fail("write", error));
      } catch (error) {
        if (flight.isSettled) return true;
        flight.underWay = undefined;
        if (file !== undefined) current.cut(file);
        if (isLast || codeOf(error) === "EBUSY") throw error;
        return false;
      }
      if (flight.isSettled) return true;
      if (current.isInPlace(file)) {
        current.add(flight.length);
        return true;
      }
    }
    return current.fail("write", new Error(REMOVED));
  }
}
