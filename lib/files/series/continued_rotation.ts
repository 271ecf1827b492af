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

/** The interval in ms of heartbeats by the writer of a series. */
const HEARTBEAT = 750;

/**
 * Continues a series after earlier streams: in the last file, or the next one. Only one stream writes it at a time, and
 * complete files are compressed and removed in parallel with the writes.
 *
 * Acknowledged bytes are in a file that existed at that time: a file that is removed while it is written is replaced by
 * the next one, and the bytes of a failed write are truncated.
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
  /** Whether this stream has the series, and has read its record. */
  #isTaken = false;
  #isLocked = false;
  #isAbandoned = false;

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

  /** Takes the series, synchronously if possible, and opens its last file if that can be continued. */
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

  /** Takes the series, and continues where the last attempt to do that failed. */
  #take(): Promise<void> | void {
    if (this.#isAbandoned) throw new Error("the stream has failed");
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
    this.#current.noteEnd();
    await this.#current.discard();
    await this.#upkeep.stop();
    this.#leave();
  }

  /** Stops retries, because the stream is aborted. */
  giveUp(): void {
    this.#isAbandoned = true;
    this.#current.abandon();
    this.#upkeep.giveUp();
    this.attempts.giveUp();
    if (!this.#isTaken) this.#leave(); // ends the wait for another stream
  }

  #isDue(): boolean {
    const { interval } = this.#options;
    const { file, size, opened } = this.#current;
    if (interval === undefined || file === undefined || size === 0) return false;
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

const continuing = ["interval", "maxFiles", "maxTotalSize", "maxAge", "compress", "retry", "onWarning"] as const;

/** The maximum size of a name in bytes: systems allow 255, and the name of a lock is up to 75 longer. */
const MAX_NAME_LENGTH = 180;

const intervals = { hour: 3_600_000, day: 86_400_000 } as const;

/** Makes the writer of a series by options that the schema has checked; it opens no file yet. */
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
