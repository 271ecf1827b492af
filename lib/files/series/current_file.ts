import { type BigIntStats, constants, readdirSync, readSync, writeSync } from "node:fs";
import { userNumber } from "../../runtime/mod.ts";
import { codeOf, failingNow, fileFailure } from "../failure.ts";
import { flushFiles, flushFilesNow, LeftFiles } from "../flush.ts";
import { makeDirectorySync } from "../folders.ts";
import { OpenFile } from "../open_file.ts";
import { takeNameNow } from "../place.ts";
import type { ProcessLock } from "../process_lock.ts";
import { removeOwn, withFileNow } from "../rename.ts";
import { temporaryPath } from "../temporary.ts";
import type { FileSeries } from "./file_series.ts";
import {
  type FileProof,
  proofOfComplete,
  proofOfOpen,
  provenFile,
  type SeriesEntry,
  type SeriesRecord,
} from "./series_record.ts";

const LINE_FEED = 10;

/** Whether a file was left by a stream that was closed, or ends with a line; otherwise it may end with half an item. */
export function isWhole(path: string, size: number, { end }: SeriesEntry): boolean {
  if (size === 0 || size === end) return true;
  const endsLine = (descriptor: number, status: BigIntStats): boolean => {
    const last = new Uint8Array(1);
    readSync(descriptor, last, 0, 1, Number(status.size) - 1);
    return last[0] === LINE_FEED;
  };
  return failingNow("read", path, () => withFileNow(path, constants.O_RDONLY, endsLine)) ?? false;
}

/**
 * The current file of a series, and its replacement by the next one: when it is full, or when it or the folder was
 * removed. Files are opened synchronously, since a process that is about to end may need one.
 */
export class CurrentFile {
  readonly #maxSize: number;
  readonly #series: FileSeries;
  readonly #record: SeriesRecord;
  readonly #lock: ProcessLock;
  readonly #onBegun: () => void;
  file: OpenFile | undefined = undefined;
  /** The file's number; 0 if the next file has none yet. */
  number = 0;
  /** The file's acknowledged bytes. */
  size = 0;
  /** The bytes behind them that a failed write has left, which its repetition continues: readers may have got them. */
  part = 0;
  /** Whether another program has appended to the part, which therefore stays. */
  #isMixed = false;
  /** The time in ms since 1970 at which it was opened. */
  opened = 0;
  /** The files that may end with half a line. */
  #torn: SeriesEntry[] = [];
  readonly #left = new LeftFiles();
  /** The number of the first file with unflushed bytes, and of the last one with a flushed name. */
  #flushed = { from: 0, named: -1 };

  /** @param onBegun Called when a new file begins. */
  constructor(series: FileSeries, maxSize: number, record: SeriesRecord, lock: ProcessLock, onBegun: () => void) {
    this.#series = series;
    this.#maxSize = maxSize;
    this.#record = record;
    this.#lock = lock;
    this.#onBegun = onBegun;
  }

  /** Continues the last file, if it has room and its items are complete; otherwise ends it. */
  continue(): void {
    const last = this.#series.numbersIn(readdirSync(this.#series.directory)).at(-1) ?? 0;
    this.#record.reserve(last);
    const entries = this.#record.entries;
    this.#torn = [];
    let before: SeriesEntry | undefined; // the last file with bytes, which may end within a line whose rest failed
    for (const [i, recorded] of entries.entries()) {
      if (recorded.file.size !== undefined) before = recorded; // the file is complete
      if (recorded.file.size !== undefined) continue;
      const path = this.#series.pathOf(recorded.number);
      const status = provenFile(path, recorded.file);
      if (status === undefined) {
        this.#record.forget(recorded.number);
        continue;
      }
      let entry = { ...recorded, file: proofOfOpen(status) }; // its number may be another since
      const isContinued = i === entries.length - 1 && entry.number === last &&
        isWhole(path, Number(status.size), entry);
      const file = isContinued ? this.#openAgain(path, status) : undefined;
      if (file !== undefined) entry = { ...entry, file: proofOfOpen(file.exactStatus()) }; // overlayfs may have copied it
      const isNew = entry.file.ino !== recorded.file.ino || entry.file.birth !== recorded.file.birth;
      if (isNew) this.#record.noteIfPossible(entry.number, { file: entry.file });
      if (file !== undefined) {
        this.#adopt(file, entry.number, entry.opened ?? Number(status.mtimeMs));
      } else {
        this.#torn.push(entry);
        before = undefined;
      }
    }
    if (before !== undefined && this.size === 0) this.#torn.push(before);
    this.#torn = this.#torn.filter((entry) => !this.#endLine(entry));
    if (this.file !== undefined && this.size === 0 && this.#torn.length > 0) {
      this.file.writeNow([Uint8Array.of(LINE_FEED)]);
      this.measure();
      this.#torn.splice(0).forEach((entry) => this.#noteComplete(entry));
    }
    this.#flushed.from = this.number || this.#record.last + 1;
  }

  /**
   * Ends half a line that a killed process left at a file's end, so that readers of the series do not join it with the
   * next file's first line; returns whether that succeeded. Otherwise the file stays incomplete.
   */
  #endLine(entry: SeriesEntry): boolean {
    const path = this.#series.pathOf(entry.number);
    const status = provenFile(path, entry.file);
    if (status === undefined) return true;
    try {
      const isEnded = isWhole(path, Number(status.size), entry);
      if (entry.file.size !== undefined) return isEnded;
      const flags = constants.O_APPEND | constants.O_WRONLY;
      if (!isEnded) withFileNow(path, flags, (number, { ino }) => ino === status.ino && writeSync(number, "\n"));
    } catch {
      return false; // the disk is full, or the file is another user's
    }
    this.#noteComplete(entry);
    return true;
  }

  #noteComplete({ number, file }: SeriesEntry): void {
    const status = provenFile(this.#series.pathOf(number), file);
    if (status !== undefined) this.#record.noteIfPossible(number, { file: proofOfComplete(status) });
  }

  open(): OpenFile {
    if (this.#lock.isLost) this.#recover();
    return this.file ?? this.#begin();
  }

  /** Reads the file's size: another program may have emptied it, or appended to it. */
  measure(): void {
    const size = this.file!.size();
    if (size < this.size + this.part) this.part = 0;
    this.#isMixed = this.part > 0 && (this.#isMixed || size > this.size + this.part);
    this.size = size - this.part;
  }

  /** Notes that the file has all bytes of a write. */
  acknowledge(length: number): void {
    this.size += length;
    this.part = 0;
  }

  /** Keeps the part of a failed write of `length` bytes for its repetition. */
  keepPart(file: OpenFile, length: number): void {
    try {
      const part = file.size() - this.size;
      if (part < 0 || part > length) this.#cut(file); // another program has emptied the file or appended to it
      else this.part = part;
    } catch {
      this.#detach();
    }
  }

  /** The room in bytes of this file, or the next one. */
  get room(): number {
    return Math.max(0, this.#maxSize - this.size);
  }

  /** Whether bytes written to a file are still in the series. */
  isInPlace(file: OpenFile): boolean {
    const isRemoved = this.#isRemoved(file);
    if (isRemoved || this.#lock.isLost) this.#recover();
    return !isRemoved;
  }

  /** Whether the open file no longer has a name: some file systems, such as sshfs, count no links. */
  #isRemoved(file: OpenFile): boolean {
    if (file.status().nlink > 0) return false;
    return provenFile(this.#series.pathOf(this.number), proofOfOpen(file.exactStatus())) === undefined;
  }

  /** Truncates what a failed write has left, so that the next item is complete. */
  #cut(file: OpenFile): void {
    this.part = 0;
    try {
      const size = file.size();
      if (size === this.size) return;
      const isEmptied = size < this.size; // by another program: the present bytes are the write's
      file.truncate(isEmptied ? 0 : this.size, this.#series.pathOf(this.number));
    } catch {
      this.#detach(); // later items go into another file
    }
  }

  /** Ends the complete file: the next write begins another one. */
  complete(): void {
    if (this.file === undefined) return;
    const status = this.file.exactStatus();
    const isNamed = provenFile(this.#series.pathOf(this.number), proofOfOpen(status)) !== undefined;
    if (isNamed) this.#record.noteIfPossible(this.number, { file: proofOfComplete(status) });
    else this.#record.forget(this.number); // another program has its name, such as logrotate
    // After a change of the process's user, it may be impossible to reopen the file.
    this.#detach(isNamed && [undefined, Number(status.uid)].includes(userNumber()));
    this.number = 0;
  }

  /** Closes the file, for the next stream to continue it. */
  async leave(): Promise<void> {
    this.#noteEnd();
    const last = this.#record.entries.at(-1);
    const size = last?.file.size;
    if (size !== undefined && last!.end !== size) this.#record.noteIfPossible(last!.number, { end: size });
    const file = this.file;
    this.file = undefined;
    await file?.close().catch((error) => this.fail("close", error));
    await this.#left.flush();
  }

  /** Records the file's end and its time; without that, the next stream determines the end. */
  #noteEnd(): void {
    const known = this.file && this.#record.entry(this.number);
    if (known === undefined) return;
    let { file } = known;
    try {
      const { size: _, ...left } = proofOfComplete(this.file!.exactStatus());
      file = left;
    } catch {
      // A file server has forgotten the file.
    }
    this.#record.noteIfPossible(this.number, { end: this.size, file });
  }

  async discard(): Promise<void> {
    if (this.part > 0 && !this.#isMixed && !this.#lock.isLost) this.#cut(this.file!);
    this.#noteEnd();
    const file = this.file;
    this.file = undefined;
    await file?.drop(); // the reason of the discard is already being thrown
    await this.#left.flush().catch(() => {});
  }

  /** Waits until all bytes and names written by the stream are on the disk. */
  async flush(): Promise<void> {
    await this.#left.flush(async () => {
      await this.file?.datasync().catch((error) => this.fail("flush", error));
      const due = this.#unflushed();
      if (due !== undefined) await flushFiles(due.paths, this.#series.directory);
      this.#flushed = due ?? this.#flushed;
    });
  }

  flushNow(): void {
    this.#left.flushNow(() => {
      const path = this.#series.pathOf(this.number);
      failingNow("flush", path, () => this.file?.datasyncNow());
      const due = this.#unflushed();
      if (due !== undefined) flushFilesNow(due.paths, this.#series.directory);
      this.#flushed = due ?? this.#flushed;
    });
  }

  /** Returns the files completed since the last flush, and the state after flushing them; undefined if there are none. */
  #unflushed(): { readonly paths: string[]; readonly from: number; readonly named: number } | undefined {
    const { from, named } = this.#flushed;
    const { last } = this.#record;
    const next = this.number || last + 1;
    if (from === next && named === last) return undefined;
    const due = this.#record.entries.filter(({ number, isPacked }) =>
      number >= from && number !== this.number && !isPacked
    );
    return { paths: due.map(({ number }) => this.#series.pathOf(number)), from: next, named: last };
  }

  fail(action: string, error: unknown): never {
    throw fileFailure(action, this.#series.pathOf(this.number), error);
  }

  /** @param isFound Whether a flush can later open the file by its path. */
  #detach(isFound = false): void {
    const file = this.file;
    this.file = undefined;
    this.size = this.part = 0;
    if (file === undefined) return;
    const path = this.#series.pathOf(this.number);
    if (isFound) this.#left.close(file, path);
    else this.#left.flushAndClose(file, path);
  }

  /** Opens the next file. It is recorded before it gets its name, so that no other file can be confused with it. */
  #begin(): OpenFile {
    try {
      return this.#create();
    } catch (error) {
      const path = this.#series.pathOf(this.#record.last + 1);
      if (codeOf(error) !== "ENOENT") throw fileFailure("create", path, error);
    }
    this.#recover();
    return this.#create();
  }

  #create(): OpenFile {
    const next = temporaryPath(this.#series.pathOf(this.#record.last + 1));
    const file = OpenFile.openNow(next, "ax");
    try {
      this.#torn = this.#torn.filter((entry) => !this.#endLine(entry));
      if (this.#torn.length > 0) file.writeNow([Uint8Array.of(LINE_FEED)]); // ends the torn line for readers
      const opened = Date.now();
      this.#adopt(file, this.#named(next, opened, proofOfOpen(file.exactStatus())), opened);
      for (const entry of this.#torn.splice(0)) this.#noteComplete(entry);
    } catch (error) {
      file.drop(); // the reason of the failure is already being thrown
      removeOwn(next);
      throw error;
    }
    this.#onBegun();
    return file;
  }

  /** Gives a file the next free name; returns its number. */
  #named(path: string, opened: number, proof: FileProof): number {
    for (;;) {
      const number = this.#record.last + 1;
      this.#record.note(number, { opened, file: proof });
      try {
        takeNameNow(path, this.#series.pathOf(number));
        return number;
      } catch (error) {
        this.#record.forget(number);
        if (codeOf(error) === "EEXIST") continue; // another program's file, which stays
        this.#record.last = number - 1; // for the next attempt
        throw fileFailure("create", this.#series.pathOf(number), error);
      }
    }
  }

  #adopt(file: OpenFile, number: number, opened: number): void {
    this.size = file.size(); // before the file is known: a failure leaves none
    this.file = file;
    this.number = number;
    this.opened = opened;
  }

  #openAgain(path: string, status: BigIntStats): OpenFile {
    try {
      return OpenFile.openSame(path, constants.O_APPEND | constants.O_WRONLY, status, this.#record.maxWait);
    } catch (error) {
      throw fileFailure("open", path, error);
    }
  }

  /** Continues with the next file after the file, the lock or the whole folder was removed. */
  #recover(): void {
    const file = this.file;
    const wasLost = this.#lock.isLost;
    makeDirectorySync(this.#series.directory);
    this.#lock.renew();
    if (wasLost) this.#record.reload(); // another stream may have had the series meanwhile
    const isRemoved = file !== undefined && this.#isRemoved(file);
    if (isRemoved) this.#record.forget(this.number);
    this.#record.rewrite();
    if (file === undefined) return;
    if (this.#record.entry(this.number)?.file.size === undefined && !isRemoved) {
      if (file.size() > this.size + this.part) this.part = 0; // that stream has ended its line
      this.measure();
    } else {
      this.#detach();
      this.number = 0;
    }
  }
}
