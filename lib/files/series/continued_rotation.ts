import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileFailure } from "../failure.ts";
import type { FileSeries } from "../file_series.ts";
import { OpenFile } from "../open_file.ts";
import type { ContinuedOptions, SeriesFormat } from "../rotation_options.ts";
import type { SeriesWriter } from "../series_writer.ts";
import { takeNameNow } from "../take_name.ts";
import { UnderWay } from "../under_way.ts";
import { writeFully } from "../write_fully.ts";
import { proofOfComplete, proofOfOpen, provenFile } from "./file_proof.ts";
import type { LimitedSeries, SeriesLimits } from "./series_limits.ts";
import { isWhole, lastNumber } from "./last_file.ts";
import { SeriesLock } from "./series_lock.ts";
import type { PackedSeries } from "./series_packer.ts";
import { type SeriesEntry, SeriesRecord } from "./series_record.ts";
import { SeriesUpkeep } from "./series_upkeep.ts";

/** How often a write is begun anew because its file was removed under it. */
const MOST_REMOVALS = 3;

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
  #isAbandoned = false;
  #stopWaiting: (() => void) | undefined = undefined;

  constructor(series: FileSeries, maxFileSize: number, options: ContinuedOptions, format: SeriesFormat | undefined) {
    this.#series = series;
    this.#options = options;
    this.maxFileSize = this.room = maxFileSize;
    const { maxFiles = Infinity, maxTotalSize = Infinity, maxAge = Infinity } = options;
    this.limits = { maxFiles, maxTotalSize, maxAge };
    const { directory, name } = series;
    this.record = new SeriesRecord(directory, `.${name}.millrace`);
    this.#lock = new SeriesLock(directory, `.${name}.millrace-lock-`, name!);
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
  async start(): Promise<void> {
    this.#makeDirectory();
    const waiting = this.#lock.take();
    dropped.register(this, this.#lock, this);
    try {
      if (waiting !== undefined) await waiting;
      this.record.load();
      this.#continue();
    } catch (error) {
      this.#leave();
      throw error;
    }
    this.#upkeep.look();
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (this.#lock.isLost) this.#recover();
    if (this.#isDue()) this.rotateNow();
    const flight: Flight = { pieces, length, underWay: undefined, isSettled: false };
    this.#flight = flight;
    try {
      for (let left = MOST_REMOVALS; left > 0 && !await this.#isWritten(flight); left--) this.#recover();
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
    this.record.note(this.#number, { file: proofOfComplete(file.status()) });
    this.#letGo();
    this.#number = 0;
    this.#upkeep.look();
  }

  async flush(): Promise<void> {
    await this.#file?.datasync().catch((error) => this.#fail("flush", error));
  }

  /** Opens the file by its name again, or the next one if another program has taken that away. */
  reopen(): void {
    const entry = this.#entry(this.#number);
    if (this.#file === undefined || entry === undefined) return;
    const path = this.plainPathOf(this.#number);
    if (provenFile(path, entry.file) !== undefined) return;
    this.record.forget(this.#number);
    this.#letGo();
    this.#number = 0;
  }

  /** Writes, at once, what is under way. */
  settleNow(): void {
    const flight = this.#flight;
    if (flight === undefined || flight.isSettled) return;
    if (flight.underWay === undefined) {
      this.writeNow(flight.pieces, flight.length);
    } else {
      flight.underWay.awaitNow(this.plainPathOf(this.#number));
      this.#add(flight.length);
    }
    flight.isSettled = true;
  }

  writeNow(pieces: readonly Uint8Array[], length: number): void {
    const file = this.#file ?? this.#begin();
    try {
      for (const piece of pieces) file.writeNow(piece);
    } catch (error) {
      this.#cut(file);
      this.#fail("write", error);
    }
    this.#add(length);
  }

  flushNow(): void {
    this.#file?.datasyncNow();
  }

  async close(): Promise<void> {
    try {
      const file = this.#file;
      if (file !== undefined) this.record.note(this.#number, { end: this.#size });
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
    if (file !== undefined && this.#flight === undefined) this.#tryToNote({ end: this.#size });
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

  #tryToNote(change: { end: number }): void {
    try {
      this.record.note(this.#number, change);
    } catch {
      // The next stream finds out by itself how the file ends.
    }
  }

  /** Writes to the file as often as is asked; returns whether the file was there at the end. */
  async #isWritten(flight: Flight): Promise<boolean> {
    const { attempts = 0, delay = 1000 } = this.#options.retry ?? {};
    for (let attempt = 0;; attempt++) {
      if (this.#isAbandoned) throw new Error("the stream has failed");
      const file = this.#file ?? this.#begin();
      flight.underWay = new UnderWay(file, this.#size + flight.length);
      try {
        if (flight.length > 0) await writeFully(file, flight.pieces);
      } catch (error) {
        if (flight.isSettled) return true;
        this.#cut(file);
        if (attempt >= attempts) this.#fail("write", error);
        flight.underWay = undefined;
        await this.#wait(delay);
      }
      if (flight.isSettled) return true;
      if (flight.underWay === undefined) continue;
      if (file.status().nlink === 0) return false;
      this.#add(flight.length);
      return true;
    }
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
    this.#makeAgain();
    return this.#create();
  }

  #create(): OpenFile {
    const next = this.#nextPath;
    rmSync(next, { force: true }); // what a killed process has left
    const file = OpenFile.openNow(next, "ax");
    const proof = proofOfOpen(file.status());
    const opened = Date.now();
    for (;;) {
      const number = this.record.last + 1;
      this.record.note(number, { opened, file: proof });
      try {
        takeNameNow(next, this.plainPathOf(number));
      } catch (error) {
        this.record.forget(number);
        if ((error as { code?: unknown }).code === "EEXIST") continue; // another program's file: it stays as it is
        file.close().catch(() => {}); // why it cannot be had is being told already
        throw fileFailure("create", this.plainPathOf(number), error);
      }
      this.#adopt(file, number, opened);
      this.#upkeep.look();
      return file;
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
        this.record.note(entry.number, { file: proofOfComplete(status) });
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

  /** The file was removed, or all of the folder: goes on with the next file. */
  #recover(): void {
    const isGone = this.#file !== undefined && this.#file.status().nlink === 0;
    this.#makeAgain();
    if (!isGone) return;
    this.record.forget(this.#number);
    this.#letGo();
    this.#number = 0;
  }

  #makeAgain(): void {
    this.#makeDirectory();
    this.#lock.renew();
    this.record.rewrite();
  }

  #makeDirectory(): void {
    try {
      mkdirSync(this.directory, { recursive: true });
    } catch (error) {
      throw fileFailure("make the directory", this.directory, error);
    }
  }

  #entry(number: number): SeriesEntry | undefined {
    return this.record.entries.find((entry) => entry.number === number);
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
