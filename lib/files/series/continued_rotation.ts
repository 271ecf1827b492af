import type { RetryOptions } from "../../batch/mod.ts";
import type { WritableStreamDefaultController } from "../../streams/mod.ts";
import { Pause, TurnSlicer } from "../../timers/mod.ts";
import { codeOf, failingNow, FULL, warn } from "../failure.ts";
import { makeDirectorySync } from "../folders.ts";
import type { ImmediateTarget, ItemTarget } from "../item_writer.ts";
import type { FileSeries } from "./file_series.ts";
import type { ContinuedSettings } from "./rotation_options.ts";
import { CurrentFile } from "./current_file.ts";
import { SeriesUpkeep } from "./series_upkeep.ts";
import type { OpenFile } from "../open_file.ts";
import { ProcessLock } from "../process_lock.ts";
import { IN_USE, SHORTAGE } from "../rename.ts";
import { behind } from "../write_fully.ts";
import { isTaken, SeriesRecord } from "./series_record.ts";

/** A writer to the files of a series, in order; the caller ends each file, and makes one call at a time. */
export interface SeriesWriter extends ItemTarget {
  readonly files: readonly string[];
  /** Creates the directory, and checks that the series can be written. The signal aborts a running write. */
  start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void>;
  close(): Promise<void>;
}

/** The interval in ms of heartbeats by the writer of a series. */
const HEARTBEAT = 750;

/** The maximum number of restarts of a write whose file was removed meanwhile. */
const MAX_REMOVALS = 3;
const REMOVED = "it was removed each time it was written to";

/** The codes of transient failures: no descriptor is free, the disk is full or faulty, or another program has locked the file. */
const TRANSIENT_CODES: readonly unknown[] = [...FULL, ...SHORTAGE, ...IN_USE, "EIO"];
/** The default of `retry`, for transient failures. */
const DEFAULT_RETRY: RetryOptions = { attempts: 60, delay: 1000 };

/**
 * Continues a series after earlier streams: in the last file, or the next one. Only one stream writes it at a time, and
 * complete files are compressed and removed in parallel with the writes.
 *
 * Acknowledged bytes are in a file that existed at that time: a file that is removed while it is written is replaced by
 * the next one. The part that a full disk takes of a write stays for its repetition, since readers may have got it, and is
 * truncated only if the stream fails.
 */
export class ContinuedRotation implements SeriesWriter, ImmediateTarget {
  readonly maxFileSize: number;
  readonly cutsLines = true;
  readonly takesBack = true;
  /** The reason of the last attempt's failure, if another attempt follows. */
  failure: Error | undefined = undefined;
  /** Called with the reason of each failed attempt that is to be repeated. */
  onFailure: ((error: unknown) => void) | undefined = undefined;
  readonly #series: FileSeries;
  readonly #options: ContinuedSettings;
  readonly #lock: ProcessLock;
  readonly #record: SeriesRecord;
  readonly #upkeep: SeriesUpkeep;
  readonly #current: CurrentFile;
  /** Whether this stream has the series, and has read its record. */
  #isTaken = false;
  #isLocked = false;
  /** The turns of the event loop between writes, however fast these come. */
  readonly #turns = new TurnSlicer();
  /** The write that is to be attempted, or repeated after a pause. */
  #due: { readonly pieces: readonly Uint8Array[]; readonly length: number } | undefined = undefined;
  #pause: Pause | undefined = undefined;
  #isPatient = false;
  /** Whether the stream has failed, or was aborted or closed. */
  #isOver = false;

  constructor(series: FileSeries, maxFileSize: number, options: ContinuedSettings) {
    this.#series = series;
    this.#options = options;
    this.maxFileSize = maxFileSize;
    const { retry: { attempts, delay = 1000 } = { attempts: 0 } } = options;
    const { directory, name } = series;
    this.#lock = lockOf(directory, name!, attempts * Math.max(delay, 1)); // timers wait at least 1 ms
    this.#record = new SeriesRecord(directory, `.${name}.millrace`, this.#lock);
    this.#current = new CurrentFile(series, maxFileSize, this.#record, this.#lock, () => this.#upkeep.look());
    this.#upkeep = new SeriesUpkeep(series, this.#record, this.#current, options);
  }

  get room(): number {
    return this.#current.room;
  }

  get files(): string[] {
    return this.#upkeep.complete.map(({ number, isPacked, packed }) => {
      const path = this.#series.pathOf(number);
      return isPacked ? `${path}.${packed!.extension}` : path;
    });
  }

  /** Takes the series, synchronously if possible, and opens its last file if that can be continued. */
  async start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void> {
    controller.signal.addEventListener("abort", () => this.giveUp());
    dropped.register(this, this.#lock, this);
    await this.#repeat(() => this.#record.unblocked(() => this.#take()));
  }

  /** Takes the series, and continues where the last attempt to do that failed. */
  #take(): Promise<void> | void {
    this.#requireGoing();
    makeDirectorySync(this.#series.directory);
    const waiting = this.#isLocked ? undefined : this.#lock.take();
    return waiting === undefined ? this.#load() : waiting.then(() => this.#record.unblocked(() => this.#load()));
  }

  #load(): void {
    this.#isLocked = true;
    this.#record.load();
    this.#current.continue();
    this.#isTaken = true;
    this.#upkeep.look();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    this.#due = { pieces, length };
    await this.#repeat(() => this.#record.unblocked(() => this.settleNow())).finally(() => this.#due = undefined);
    if (this.#turns.isOver) await this.#turns.next();
  }

  /** Sets whether transient failures are retried without limit, unless `retry` is given. */
  set isPatient(isPatient: boolean) {
    this.#isPatient = isPatient;
    this.#pause?.end();
  }

  async #repeat(step: () => Promise<void> | void): Promise<void> {
    const { retry } = this.#options;
    const { attempts, delay = 1000 } = retry ?? DEFAULT_RETRY;
    try {
      for (let left = attempts;; left--) {
        try {
          return await step();
        } catch (error) {
          const code = codeOf(error);
          const mayPass = !isTaken(error) && (retry !== undefined || TRANSIENT_CODES.includes(code));
          if (left <= 0 || this.#isOver || !mayPass) throw error;
          this.#report(error as Error, code);
        }
        const isPatient = retry === undefined && this.#isPatient;
        if (isPatient) left = attempts + 1;
        // A process without other work ends during a patient pause, since retries have no limit.
        if (!this.#isOver) await (this.#pause = new Pause({ keepsAlive: !isPatient })).wait(delay);
      }
    } catch (error) {
      this.giveUp(); // flushSync() fails from now on, too
      throw error;
    } finally {
      this.failure = undefined;
    }
  }

  /** Warns of the first of repeated failures. */
  #report(error: Error, code: string | undefined): void {
    this.onFailure?.(error);
    const isTold = this.failure !== undefined;
    this.failure = error;
    const message = `${error.message}; it is tried again, and what is written meanwhile waits`;
    if (!isTold) warn(this.#options.onWarning, Object.assign(new Error(message, { cause: error }), { code }));
  }

  rotate(): Promise<void> {
    const { file } = this.#current;
    return this.#repeat(() => this.#record.unblocked(() => this.rotateNow(file)));
  }

  /** Ends the current file, unless that is no longer `file`: flushSync() may have ended it in a pause. */
  rotateNow(file: OpenFile | undefined = this.#current.file): void {
    const current = this.#current;
    if (file === undefined || file !== current.file) return;
    failingNow("complete", this.#series.pathOf(current.number), () => current.complete());
    this.#upkeep.look();
  }

  async flush(): Promise<void> {
    await this.#current.flush();
  }

  /** Attempts the due write at once, if there is one. */
  settleNow(): void {
    if (!this.#isTaken && !this.#isOver) {
      const reason = `it is not known yet whether another process writes the series ${this.#series.name}`;
      throw this.failure ?? refusal(this.#series.directory, reason);
    }
    if (this.#due === undefined) return;
    this.writeNow(this.#due.pieces, this.#due.length);
    this.#due = undefined;
    this.#pause?.end();
  }

  /** Writes bytes to the current file; if its interval is over or it was removed, to the next one. */
  writeNow(pieces: readonly Uint8Array[], length: number): void {
    this.#requireGoing();
    if (this.#isDue()) this.rotateNow();
    const current = this.#current;
    for (let left = MAX_REMOVALS; left > 0; left--) {
      const file = current.open();
      current.measure();
      let isWritten = false;
      try {
        file.writeNow(behind(pieces, current.part), this.#record.maxWait);
        isWritten = true;
        if (!current.isInPlace(file)) continue;
      } catch (error) {
        current.keepPart(file, length);
        if (isWritten) throw error;
        current.fail("write", error);
      }
      current.acknowledge(length);
      return;
    }
    current.fail("write", new Error(REMOVED));
  }

  #requireGoing(): void {
    if (this.#isOver) throw new Error("the stream has failed");
  }

  flushNow(): void {
    this.#current.flushNow();
  }

  async close(): Promise<void> {
    try {
      await this.#current.leave();
      await this.#upkeep.idle();
    } finally {
      await this.discard();
    }
  }

  async discard(): Promise<void> {
    this.giveUp();
    await this.#current.discard().finally(() => this.#upkeep.stop()).finally(() => this.#leave());
  }

  /** Stops retries, and the wait for another stream. */
  giveUp(): void {
    this.#isOver = true;
    void this.#upkeep.stop();
    this.#pause?.end();
    if (!this.#isTaken) this.#leave();
  }

  #isDue(): boolean {
    const { interval } = this.#options;
    const { file, size, part, opened } = this.#current;
    if (interval === undefined || file === undefined || size === 0 || part > 0) return false;
    const begin = Math.floor(opened / interval) * interval;
    const now = Date.now();
    // If the clock is set back by less than that, each file would otherwise begin twice.
    return now >= begin + interval || now < begin - interval;
  }

  #leave(): void {
    dropped.unregister(this);
    this.#lock.release();
  }
}

const dropped = new FinalizationRegistry<ProcessLock>((lock) => lock.release());

/** Makes the lock of a series, without a reference to its stream, which may become unreachable. */
function lockOf(directory: string, name: string, waitFor: number): ProcessLock {
  return new ProcessLock({
    directory,
    name,
    subject: `the series ${name}`,
    heartbeat: HEARTBEAT,
    expiry: 4 * HEARTBEAT,
    waitFor,
    busy({ processId, isInThisProcess }) {
      const who = isInThisProcess ? "another stream of this process" : `the process ${processId}`;
      const hint = "close that one first, wait for it by retry, or pass another name or directory";
      return refusal(directory, `${who} writes the series ${name}: ${hint}`);
    },
  });
}

function refusal(directory: string, reason: string): Error {
  return Object.assign(new Error(`Cannot write to ${directory}: ${reason}`), { code: "EBUSY" });
}
