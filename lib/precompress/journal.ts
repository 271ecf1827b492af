import { closeSync, constants, openSync, writeSync } from "node:fs";
import { lstat, readFile, rm } from "node:fs/promises";
import process from "node:process";
import {
  ignoreMissing,
  type LockedBy,
  ProcessLock,
  UNSHARED,
  whileRefused,
  whileRefusedNow,
  whileUnshared,
} from "../files/internal.ts";
import type { Folder } from "./folder.ts";
import { checkedRecord, checkedVariant, isFormat, isKey, journalName } from "./manifest.ts";
import type { FileRecord, VariantRecord } from "./records.ts";
import type { DeltaFormat, VariantFormat } from "./formats.ts";
import { cannotWrite } from "./problem.ts";

/** The beginning of a journal's first line; that of version 0.2 named the run's process. */
const FIRST_WORDS = ['\n{"copied":', '\n{"space":'];
/** The times in ms that a run waits for another one: before it reports the wait, and in total. */
const WAITS = [1000, 600_000];
/** The maximum number of plans of a run, if other processes keep changing its folder. */
const MAX_PLANS = 10;

/** A file that is about to get its name: a copy, or a variant of the file at `path`. */
export interface JournalEntry {
  readonly path: string;
  /** The record of the file itself, without its variants. */
  readonly record: FileRecord;
  /** The variant, unless the entry is about a copy. */
  readonly made?: { readonly format: VariantFormat | DeltaFormat; readonly variant: VariantRecord };
}

export interface FoundJournal {
  readonly entries: readonly JournalEntry[];
  readonly copied: boolean;
  /** The length of the file in bytes, by which a change is detected. */
  readonly length: number;
}

/** Returns the journal in `folder`, if there is one: a run is in progress, or was killed. Throws if it cannot be read. */
export async function readJournal(folder: Folder): Promise<FoundJournal | undefined> {
  const path = folder.at(journalName);
  // Links are not followed, and pipes not opened, since reading a pipe might never end.
  const status = await lstat(path).catch(ignoreMissing);
  if (status?.isFile() === false) throw notOurs(path);
  const text = status && await whileUnshared(() => readFile(path, "utf8")).catch(ignoreMissing);
  if (text === undefined) return undefined;
  const entries: JournalEntry[] = [];
  let copied = false;
  let isJournal = FIRST_WORDS.some((words) => words.startsWith(text.slice(0, words.length)));
  for (const value of text.split("\n").map(parsed)) {
    if (value === undefined) continue; // a line that a kill left incomplete: its file did not get its name
    if ("copied" in value) {
      isJournal = true;
      copied = value.copied === true;
    } else {
      const entry = checkedEntry(value);
      if (entry) entries.push(entry);
    }
  }
  if (!isJournal) throw notOurs(path);
  return { entries, copied, length: text.length };
}

/** The record of the bytes to be written at each path, which survives a kill. Its run has the lock of the folder. */
export class Journal {
  readonly #path: string;
  readonly #lock: ProcessLock;
  #descriptor: number;

  private constructor(path: string, lock: ProcessLock, descriptor: number) {
    this.#path = path;
    this.#lock = lock;
    this.#descriptor = descriptor;
  }

  /**
   * Acquires the folder for a run, and keeps the journal of a killed one. `expected`: the journal's length when the run
   * was planned. `waits`: the times in ms to wait for other runs, before a warning and in total. `toRemove`: no space
   * on the disk is needed. Throws the reason of `signal`, a FolderChangedError if another run has ended since, or an
   * Error if one is in progress or the folder is unwritable.
   */
  static async open(
    folder: Folder,
    { copied, toRemove, expected, signal, waits = WAITS }: {
      readonly copied: boolean;
      readonly toRemove: boolean;
      readonly expected: number | undefined;
      readonly signal?: AbortSignal | undefined;
      readonly waits?: readonly number[];
    },
  ): Promise<Journal> {
    const path = folder.at(journalName);
    const lock = await lockedFolder(folder, waits, signal);
    try {
      const found = await readJournal(folder);
      if (found?.length !== expected) throw new FolderChangedError(folder);
      const journal = new Journal(path, lock, openJournal(folder, path, found !== undefined));
      try {
        // The entry begins with a line end, since the last line may be incomplete.
        journal.#write(`\n${JSON.stringify({ copied })}\n`);
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        if (!toRemove || !["ENOSPC", "EDQUOT"].includes(code)) {
          journal.leave();
          throw cannotWrite(folder.path, error);
        }
      }
      return journal;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** @throws {LockLostError} if another process considered this run dead, and acquired the folder. */
  requireHeld(): void {
    this.#lock.requireHeld();
  }

  /** Records a file before it gets its name. If this throws (unwritable, or another run's folder), the file must not get it. */
  append(entry: JournalEntry): void {
    this.requireHeld();
    this.#write(`${JSON.stringify(entry)}\n`);
  }

  /** Removes the journal, whose entries the manifest now has. */
  async remove(): Promise<void> {
    this.#close();
    await whileRefused(() => rm(this.#path, { force: true }));
    this.#lock.release();
  }

  /** Leaves the journal to the next run. */
  leave(): void {
    this.#close();
    this.#lock.release();
  }

  #close(): void {
    if (this.#descriptor !== -1) closeSync(this.#descriptor);
    this.#descriptor = -1;
  }

  /** Writes synchronously, since an entry must be written before its change. */
  #write(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const write = (start: number): number => writeSync(this.#descriptor, bytes, start);
    for (let start = 0; start < bytes.length;) start += whileRefusedNow(() => write(start), { codes: UNSHARED });
  }
}

/** Acquires the lock of a folder that runs write to, with a warning if that takes long. */
async function lockedFolder(
  folder: Folder,
  [waitFor, ...longer]: readonly number[],
  signal: AbortSignal | undefined,
): Promise<ProcessLock> {
  signal?.throwIfAborted();
  let holder: LockedBy | undefined;
  const busy = (by: LockedBy): Error => {
    const { processId } = holder = by;
    return new Error(`another run, of process ${processId}, is at work in ${folder.path}: wait for its end, or end it`);
  };
  const lock = new ProcessLock({ directory: folder.path, subject: `the folder ${folder.path}`, waitFor, busy });
  const stop = (): void => lock.release();
  signal?.addEventListener("abort", stop);
  try {
    await lock.take();
    signal?.throwIfAborted();
    return lock;
  } catch (error) {
    signal?.throwIfAborted();
    if (holder === undefined) {
      throw (error as { code?: unknown }).code === undefined ? error : cannotWrite(folder.path, error);
    }
    if (longer.length === 0) throw error;
    process.emitWarning(`process ${holder.processId} is at work in ${folder.path}: its end is waited for`);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  return await lockedFolder(folder, longer, signal);
}

/** Opens an existing journal, or begins one; returns its descriptor. */
function openJournal(folder: Folder, path: string, isThere: boolean): number {
  const { O_APPEND, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  try {
    const flags = isThere ? O_APPEND | O_WRONLY | O_NOFOLLOW : "ax";
    return whileRefusedNow(() => openSync(path, flags), { codes: UNSHARED });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw new FolderChangedError(folder);
    throw cannotWrite(folder.path, error);
  }
}

function notOurs(path: string): Error {
  return new Error(`${path} is in the way of a run's journal, and none: remove it and run again`);
}

/** The failure of a run with an obsolete plan. */
export class FolderChangedError extends Error {
  constructor(folder: Folder) {
    super(`another run changed ${folder.path} meanwhile: run again`);
  }
}

/** Plans and runs; repeats both if another process changed the folder before the run had the lock. */
export async function afterOthers<T>(run: () => Promise<T>): Promise<T> {
  for (let plans = 1;; plans++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof FolderChangedError) || plans === MAX_PLANS) throw error;
    }
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkedEntry({ path, record, made }: Record<string, unknown>): JournalEntry | undefined {
  const checked = checkedRecord(record);
  if (typeof path !== "string" || !isKey([path, record]) || checked === undefined) return undefined;
  if (made === undefined) return { path, record: checked };
  const { format, variant } = (made ?? {}) as { format?: unknown; variant?: unknown };
  const checkedMade = checkedVariant(variant);
  if (!isFormat(format) || checkedMade === undefined) return undefined;
  return { path, record: checked, made: { format, variant: checkedMade } };
}
