import { refuseUnused, requireOption } from "../../streams/internal.ts";
import type { WritableStreamDefaultController } from "../../streams/mod.ts";
import { makeDirectorySync } from "../folders.ts";
import { filePath } from "../names.ts";
import { FileSeries } from "./file_series.ts";
import type { ContinuedSettings, RotationOptions, RotationSchema } from "./rotation_options.ts";
import { Rotation, type SeriesWriter } from "./rotation.ts";
import { CurrentFile } from "./current_file.ts";
import { SeriesAttempts } from "./series_attempts.ts";
import { SeriesUpkeep } from "./series_upkeep.ts";
import { ProcessLock } from "../process_lock.ts";
import { SeriesRecord } from "./series_record.ts";

/** The interval at which the writer of a series shows that it lives, in ms. */
const HEARTBEAT = 750;

/**
 * Writes a series that goes on where earlier streams have ended: in the last file, or the next one. No two streams write
 * it, and complete files are compressed and removed beside the writing.
 *
 * Acknowledged bytes are in a file that existed at that time: a file that is removed while it is written is replaced by
 * the next one, and bytes of a write that failed are cut off again.
 */
export class ContinuedRotation implements SeriesWriter {
  readonly maxFileSize: number;
  readonly cutsLines = true;
  readonly takesBack = true;
  readonly attempts: SeriesAttempts;
  readonly #series: FileSeries;
  readonly #options: ContinuedSettings;
  readonly #lock: ProcessLock;
  readonly #record: SeriesRecord;
  readonly #upkeep: SeriesUpkeep;
  readonly #current: CurrentFile;
  /** Whether the series is this stream's, and its record read. */
  #isTaken = false;
  #isLocked = false;
  #isAbandoned = false;

  constructor(series: FileSeries, maxFileSize: number, options: ContinuedSettings) {
    this.#series = series;
    this.#options = options;
    this.maxFileSize = maxFileSize;
    const { retry: { attempts, delay = 1000 } = { attempts: 0 } } = options;
    const { directory, name } = series;
    this.#lock = lockOf(directory, name!, attempts * Math.max(delay, 1)); // timers wait 1 ms at least
    this.#record = new SeriesRecord(directory, `.${name}.millrace`, this.#lock);
    this.#current = new CurrentFile(series, maxFileSize, this.#record, this.#lock, () => this.#upkeep.look());
    this.#upkeep = new SeriesUpkeep(series, this.#record, this.#current, options);
    this.attempts = new SeriesAttempts(this.#current, options.retry, options.onWarning);
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

  /** Takes the series, at once where it can be, and opens its last file if that goes on. */
  async start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void> {
    controller.signal.addEventListener("abort", () => this.giveUp());
    dropped.register(this, this.#lock, this);
    try {
      await this.attempts.start(() => this.#take());
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  /** Takes the series, and goes on where the last attempt to do that failed. */
  #take(): Promise<void> | void {
    makeDirectorySync(this.#series.directory);
    const waiting = this.#isLocked ? undefined : this.#lock.take();
    return waiting === undefined ? this.#load() : waiting.then(() => this.#load());
  }

  #load(): void {
    this.#isLocked = true;
    this.#record.load();
    this.#current.continue();
    this.#isTaken = true;
    this.#upkeep.look();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (this.#isDue()) this.rotateNow();
    await this.attempts.write(pieces, length);
  }

  rotate(): Promise<void> {
    this.rotateNow();
    return Promise.resolve();
  }

  rotateNow(): void {
    if (this.#current.file === undefined) return;
    this.#current.complete();
    this.#upkeep.look();
  }

  async flush(): Promise<void> {
    await this.#current.flush();
  }

  settleNow(): void {
    if (!this.#isTaken && !this.#isAbandoned) {
      const reason = `it is not known yet whether another process writes the series ${this.#series.name}`;
      throw this.attempts.failure ?? refusal(this.#series.directory, reason);
    }
    this.attempts.settleNow();
  }

  writeNow(pieces: readonly Uint8Array[], length: number): void {
    this.attempts.writeNow(pieces, length);
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
    if (!this.attempts.isBusy) this.#current.noteEnd();
    await this.#current.discard();
    await this.#upkeep.stop();
    this.#leave();
  }

  /** The stream is aborted: what would be tried again is not. */
  giveUp(): void {
    this.#isAbandoned = true;
    this.#current.abandon();
    this.#upkeep.giveUp();
    this.attempts.giveUp();
    if (!this.#isTaken) this.#leave(); // which ends the wait for another stream
  }

  #isDue(): boolean {
    const { interval } = this.#options;
    const { file, size, opened } = this.#current;
    if (interval === undefined || file === undefined || size === 0) return false;
    const begin = Math.floor(opened / interval) * interval;
    const now = Date.now();
    // A clock that is set back by less than that would begin each file twice.
    return now >= begin + interval || now < begin - interval;
  }

  #leave(): void {
    dropped.unregister(this);
    this.#lock.release();
  }
}

const dropped = new FinalizationRegistry<ProcessLock>((lock) => lock.release());

/** Makes the lock of a series, without a reference to its stream: that may be dropped. */
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

const continuing = ["interval", "maxFiles", "maxTotalSize", "maxAge", "compress", "retry", "onWarning"] as const;

/** The maximum size of a name, in bytes: systems take 255, and the name of a lock has up to 75 more. */
const MAX_NAME_LENGTH = 180;

const intervals = { hour: 3_600_000, day: 86_400_000 } as const;

/** Makes what writes a series by the options that are given, which the schema has checked; it opens nothing yet. */
export function openSeries(schema: RotationSchema, given: RotationOptions): SeriesWriter | ContinuedRotation {
  const settings = schema(given);
  const directory = filePath(requireOption(schema, settings, "directory"), "directory");
  const maxFileSize = requireOption(schema, settings, "maxFileSize");
  const { name, overwrite, atomic } = settings;
  const series = new FileSeries(directory, name);
  if (settings.append) return continued(series, maxFileSize, settings);
  refuseUnused(given, continuing, "needs append: true: it is for a series that goes on");
  return new Rotation(series, maxFileSize, overwrite, atomic);
}

function continued(series: FileSeries, maxFileSize: number, settings: ReturnType<RotationSchema>): ContinuedRotation {
  const { overwrite, atomic } = settings;
  if (overwrite) throw new TypeError("append and overwrite exclude each other: choose one");
  if (atomic) throw new TypeError("append and atomic exclude each other: the last file goes on to be written");
  if (series.name === undefined) throw new TypeError("append needs a name that is a string, not a function");
  const length = new TextEncoder().encode(series.name).length;
  if (length > MAX_NAME_LENGTH) {
    const reason = "the names of the hidden files beside it are longer";
    throw new RangeError(`name has ${length} bytes: with append it may have ${MAX_NAME_LENGTH}, as ${reason}`);
  }
  const interval = typeof settings.interval === "string" ? intervals[settings.interval] : settings.interval;
  return new ContinuedRotation(series, maxFileSize, { ...settings, interval });
}
