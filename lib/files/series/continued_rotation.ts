import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { WritableStreamDefaultController } from "../../streams/mod.ts";
import { codeOf } from "../errno.ts";
import { fileFailure } from "../failure.ts";
import type { FileSeries } from "../file_series.ts";
import { OpenFile } from "../open_file.ts";
import type { ContinuedOptions, SeriesFormat } from "../rotation_options.ts";
import type { SeriesWriter } from "../series_writer.ts";
import { takeNameNow } from "../take_name.ts";
import { UnderWay } from "../under_way.ts";
import { writeFully } from "../write_fully.ts";
import { type FileProof, proofOfComplete, proofOfOpen, provenFile } from "./file_proof.ts";
import type { LimitedSeries, SeriesLimits } from "./series_limits.ts";
import { isWhole, lastNumber } from "./last_file.ts";
import { SeriesLock } from "./series_lock.ts";
import type { PackedSeries } from "./series_packer.ts";
import { type SeriesEntry, SeriesRecord } from "./series_record.ts";
import { SeriesUpkeep } from "./series_upkeep.ts";

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
 * Writes a series that goes on where earlier streams have ended: in the last file, or the next one. Files are opened at
 * once, as a process that is about to end may need one; all other work waits for nobody.
 *
 * Acknowledged bytes are in a file that existed at that time: a file that is removed while it is written is replaced by
 * the next one, and bytes of a write that failed are cut off again.
 */
export class ContinuedRotation implements SeriesWriter, LimitedSeries, PackedSeries {
  readonly maxFileSize: number;
  readonly limits: SeriesLimits;
  readonly record: SeriesRecord;
  room: number;
  readonly #series: FileSeries;
  readonly #options: ContinuedOptions;
  readonly #lock: SeriesLock;
  readonly #upkeep: SeriesUpkeep;
  #file: OpenFile | undefined = undefined;
  #number = 0;
  /** Bytes of the open file that are acknowledged. */
  #size = 0;
  /** When the open file was opened, in ms since 1970. */
  #opened = 0;
  #flight: Flight | undefined = undefined;
  /** The end of files that are complete. */
  #closing: Promise<unknown> = Promise.resolve();
  /** Whether the series is this stream's, and its record read. */
  #isTaken = false;
  #isAbandoned = false;
  #stopWaiting: (() => void) | undefined = undefined;

  constructor(series: FileSeries, maxFileSize: number, options: ContinuedOptions, format: SeriesFormat | undefined) {
    this.#series = series;
    this.#options = options;
    this.maxFileSize = this.room = maxFileSize;
    const { maxFiles = Infinity, maxTotalSize = Infinity, maxAge = Infinity } = options;
    this.limits = { maxFiles, maxTotalSize, maxAge };
    const { directory, name } = series;
    this.#lock = new SeriesLock(directory, `.${name}.millrace-lock-`, name!);
    this.record = new SeriesRecord(directory, `.${name}.millrace`, this.#lock);
    this.#upkeep = new SeriesUpkeep(this, format, options.onWarning);
  }

  get directory(): string {
    return this.#series.directory;
  }

  get files(): string[] {
    const complete = this.record.entries.filter(({ number, file }) =>
      number !== this.#number && file?.size !== undefined
    );
    return complete.map((entry) => this.pathOf(entry));
  }

  get openNumber(): number {
    return this.#number;
  }

  get openSize(): number {
    return this.#size;
  }

  pathOf({ number, isPacked, packed }: SeriesEntry): string {
    return isPacked ? `${this.plainPathOf(number)}.${packed!.extension}` : this.plainPathOf(number);
  }

  plainPathOf(number: number): string {
    return join(this.directory, this.#series.nameOf(number));
  }

  /** Takes the series, at once where it can be, and opens its last file if that goes on. */
  async start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void> {
    if (this.#options.retry !== undefined) controller.signal.addEventListener("abort", () => this.giveUp());
    this.#makeDirectory();
    const waiting = this.#lock.take();
    dropped.register(this, this.#lock, this);
    try {
      if (waiting !== undefined) await waiting;
      this.record.load();
      this.#continue();
    } catch (error) {
      this.#isAbandoned = true;
      this.#leave();
      throw error;
    }
    this.#isTaken = true;
    this.#upkeep.look();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (this.#isDue()) this.rotateNow();
    const flight: Flight = { pieces, length, underWay: undefined, isSettled: false };
    this.#flight = flight;
    const { attempts = 0, delay = 1000 } = this.#options.retry ?? {};
    try {
      for (let attempt = 0; !await this.#isWritten(flight, attempt >= attempts); attempt++) await this.#wait(delay);
    } finally {
      this.#flight = undefined;
    }
  }

  rotate(): Promise<void> {
    this.rotateNow();
    return Promise.resolve();
  }

  /** Ends the open file; the next write begins another. */
  rotateNow(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.record.noteIfPossible(this.#number, { file: proofOfComplete(file.status()) });
    this.#letGo();
    this.#number = 0;
    this.#upkeep.look();
  }

  async flush(): Promise<void> {
    await this.#file?.datasync().catch((error) => this.#fail("flush", error));
  }

  /** Opens the file by its name again, or the next one if another program has taken that away. */
  reopen(): void {
    const entry = this.record.entry(this.#number);
    if (this.#file === undefined || entry === undefined) return;
    const path = this.plainPathOf(this.#number);
    if (provenFile(path, entry.file) !== undefined) return;
    this.record.forget(this.#number);
    this.#letGo();
    this.#number = 0;
  }

  /**
   * Writes, at once, what is under way.
   *
   * @throws {Error} with the code `EBUSY` while it is not known whether another stream has the series.
   */
  settleNow(): void {
    if (!this.#isTaken && !this.#isAbandoned) this.#lock.refuseUntilTaken();
    const flight = this.#flight;
    if (flight === undefined || flight.isSettled) return;
    if (flight.underWay !== undefined) flight.underWay.awaitNow(this.plainPathOf(this.#number));
    if (flight.underWay !== undefined && this.#isInPlace(this.#file!)) this.#add(flight.length);
    else this.writeNow(flight.pieces, flight.length);
    flight.isSettled = true;
  }

  writeNow(pieces: readonly Uint8Array[], length: number): void {
    for (let left = MOST_REMOVALS; left > 0; left--) {
      if (this.#lock.isLost) this.#recover();
      const file = this.#file ?? this.#begin();
      try {
        for (const piece of pieces) file.writeNow(piece);
      } catch (error) {
        this.#cut(file);
        this.#fail("write", error);
      }
      if (this.#isInPlace(file)) return this.#add(length);
    }
    this.#fail("write", new Error(REMOVED));
  }

  flushNow(): void {
    try {
      this.#file?.datasyncNow();
    } catch (error) {
      this.#fail("flush", error);
    }
  }

  async close(): Promise<void> {
    try {
      const file = this.#file;
      if (file !== undefined) this.record.noteIfPossible(this.#number, { end: this.#size });
      this.#file = undefined;
      await file?.close().catch((error) => this.#fail("close", error));
      await this.#upkeep.idle();
    } finally {
      await this.discard();
    }
  }

  async discard(): Promise<void> {
    this.giveUp();
    const file = this.#file;
    this.#file = undefined;
    // Else the next stream finds out by itself how the file ends.
    if (file !== undefined && this.#flight === undefined) this.record.noteIfPossible(this.#number, { end: this.#size });
    await file?.close().catch(() => {}); // why it is discarded is being told already
    await this.#closing;
    await this.#upkeep.stop();
    this.#leave();
  }

  /** The stream is aborted: what would be tried again is not. */
  giveUp(): void {
    this.#isAbandoned = true;
    this.#upkeep.giveUp();
    this.#stopWaiting?.();
  }

  abandon(): void {
    this.discard().catch(() => {}); // why it is abandoned is being told already
  }

  /**
   * Makes an attempt to write; returns whether all is written, or else is to be tried again.
   *
   * @throws {Error} why not, if it is the last attempt.
   */
  async #isWritten(flight: Flight, isLast: boolean): Promise<boolean> {
    for (let left = MOST_REMOVALS; left > 0; left--) {
      if (this.#isAbandoned) throw new Error("the stream has failed");
      let file: OpenFile | undefined;
      try {
        if (this.#lock.isLost) this.#recover();
        file = this.#file ?? this.#begin();
        flight.underWay = new UnderWay(file, this.#size + flight.length);
        if (flight.length > 0) await writeFully(file, flight.pieces).catch((error) => this.#fail("write", error));
      } catch (error) {
        if (flight.isSettled) return true;
        flight.underWay = undefined;
        if (file !== undefined) this.#cut(file);
        if (isLast || codeOf(error) === "EBUSY") throw error;
        return false;
      }
      if (flight.isSettled) return true;
      if (this.#isInPlace(file)) {
        this.#add(flight.length);
        return true;
      }
    }
    this.#fail("write", new Error(REMOVED));
  }

  /**
   * Whether bytes that were written to a file are still in the series.
   *
   * @throws {Error} with the code `EBUSY` if another stream has taken the series over.
   */
  #isInPlace(file: OpenFile): boolean {
    const isRemoved = file.status().nlink === 0;
    if (isRemoved || this.#lock.isLost) this.#recover();
    return !isRemoved;
  }

  #wait(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #add(length: number): void {
    this.#size += length;
    this.room -= length;
  }

  /** Takes back what a failed write has left, so that what follows is whole. */
  #cut(file: OpenFile): void {
    try {
      file.truncate(this.#size);
    } catch {
      this.#letGo(); // what follows goes into another file
    }
  }

  #letGo(): void {
    const file = this.#file;
    this.#file = undefined;
    this.#size = 0;
    this.room = this.maxFileSize;
    if (file === undefined) return;
    this.#closing = Promise.all([this.#closing, file.close().catch(() => {})]); // its bytes are in the system's hands
  }

  #isDue(): boolean {
    const { interval } = this.#options;
    if (interval === undefined || this.#file === undefined || this.#size === 0) return false;
    const begin = Math.floor(this.#opened / interval) * interval;
    const now = Date.now();
    // A clock that is set back by less than that would begin each file twice.
    return now >= begin + interval || now < begin - interval;
  }

  /** Opens the next file: it is recorded before it gets its name, so that no other file can be taken for it. */
  #begin(): OpenFile {
    if (this.#isAbandoned) throw new Error("the stream has failed");
    try {
      return this.#create();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ENOENT") throw fileFailure("create", this.#nextPath, error);
    }
    this.#recover();
    return this.#create();
  }

  #create(): OpenFile {
    const next = this.#nextPath;
    rmSync(next, { force: true }); // what a killed process has left
    const file = OpenFile.openNow(next, "ax");
    try {
      const opened = Date.now();
      this.#adopt(file, this.#named(next, opened, proofOfOpen(file.status())), opened);
    } catch (error) {
      file.close().catch(() => {}); // why it cannot be had is being told already
      throw error;
    }
    this.#upkeep.look();
    return file;
  }

  /** Gives a file the next name that is free; returns its number. */
  #named(path: string, opened: number, proof: FileProof): number {
    for (;;) {
      const number = this.record.last + 1;
      this.record.note(number, { opened, file: proof });
      try {
        takeNameNow(path, this.plainPathOf(number));
        return number;
      } catch (error) {
        this.record.forget(number);
        if ((error as { code?: unknown }).code === "EEXIST") continue; // another program's file: it stays as it is
        throw fileFailure("create", this.plainPathOf(number), error);
      }
    }
  }

  /** The path at which the next file is made. */
  get #nextPath(): string {
    return join(this.directory, `.${this.#series.name}.millrace-next`);
  }

  #adopt(file: OpenFile, number: number, opened: number): void {
    this.#file = file;
    this.#number = number;
    this.#opened = opened;
    this.#size = file.size();
    this.room = Math.max(0, this.maxFileSize - this.#size);
  }

  /** Goes on with the last file, if it has room and all that is in it is whole; ends it otherwise. */
  #continue(): void {
    const last = lastNumber(this.#series);
    this.record.reserve(last);
    const entries = this.record.entries;
    for (const [i, entry] of entries.entries()) {
      if (entry.file.size !== undefined) continue; // it is complete
      const path = this.plainPathOf(entry.number);
      const status = provenFile(path, entry.file);
      if (status === undefined) {
        this.record.forget(entry.number);
      } else if (i === entries.length - 1 && entry.number === last && isWhole(path, status.size, entry)) {
        this.#adopt(this.#openAgain(path), entry.number, entry.opened ?? status.mtimeMs);
      } else {
        this.record.noteIfPossible(entry.number, { file: proofOfComplete(status) });
      }
    }
  }

  #openAgain(path: string): OpenFile {
    try {
      return OpenFile.openNow(path, "a");
    } catch (error) {
      throw fileFailure("open", path, error);
    }
  }

  /**
   * The file was removed, or the lock, or all of the folder: goes on with the next file if there is none any more.
   *
   * @throws {Error} with the code `EBUSY` if another stream has taken the series over.
   */
  #recover(): void {
    const file = this.#file;
    const wasLost = this.#lock.isLost;
    this.#makeDirectory();
    this.#lock.renew();
    if (wasLost) this.record.reload(); // another stream may have had the series for a while
    if (file?.status().nlink === 0) this.record.forget(this.#number);
    this.record.rewrite();
    if (file === undefined) return;
    if (this.record.entry(this.#number)?.file.size === undefined && file.status().nlink > 0) {
      this.#adopt(file, this.#number, this.#opened);
    } else {
      this.#letGo();
      this.#number = 0;
    }
  }

  #makeDirectory(): void {
    try {
      mkdirSync(this.directory, { recursive: true });
    } catch (error) {
      throw fileFailure("make the directory", this.directory, error);
    }
  }

  #leave(): void {
    dropped.unregister(this);
    this.#lock.release();
  }

  #fail(action: string, error: unknown): never {
    throw fileFailure(action, this.plainPathOf(this.#number), error);
  }
}

/** Lets go of series that nobody can write to any more. */
const dropped = new FinalizationRegistry<SeriesLock>((lock) => lock.release());
