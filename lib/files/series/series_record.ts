import { type BigIntStats, constants, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, fileFailure, isMissing } from "../failure.ts";
import { OpenFile } from "../open_file.ts";
import type { ProcessLock } from "../process_lock.ts";
import { IN_USE, removeOwn, renameFileNow, UNSHARED, whileRefused, whileRefusedNow, withFileNow } from "../rename.ts";
import { temporaryPath } from "../temporary.ts";
import { MAX_NUMBER } from "./file_series.ts";

/** The proof that a series wrote a file: its place on the disk, and its size and time once it is complete. */
export interface FileProof {
  readonly ino: bigint;
  /** The time of the file's birth in ms since 1970, if the file system has it. */
  readonly birth: number;
  /** The size in bytes, for a complete file. */
  readonly size?: number;
  /** The modification time in ms since 1970, for a complete file, or one that its stream has left. */
  readonly mtime?: number;
}

export function isProofOfComplete(value: unknown): value is Required<FileProof> {
  const proof = value as Partial<FileProof> | null;
  return typeof proof?.ino === "bigint" && typeof proof.size === "number" && typeof proof.mtime === "number";
}

/** The precision of file times in ms: some runtimes give fractions, others do not. */
const EXACTNESS = 1;

export function proofOfOpen(status: BigIntStats): FileProof {
  return { ino: status.ino, birth: inMs(status.birthtimeNs) };
}

export function proofOfComplete(status: BigIntStats): Required<FileProof> {
  return { ...proofOfOpen(status), size: Number(status.size), mtime: inMs(status.mtimeNs) };
}

/**
 * Returns the status of the file at `path` if the proof is of that file: a regular file with one name, at the same
 * place on the disk. A complete file has the same size, and may have the same time instead of the place, as in a copy of
 * the folder. A file that its stream has left may have the same two times, since vfat gives new numbers at each mount, or
 * number and time of the last write, since overlayfs changes the birth as it copies a file from an image's layer.
 */
export function provenFile(path: string, proof: FileProof): BigIntStats | undefined {
  const status = statusOf(path);
  if (status === undefined || !status.isFile()) return undefined;
  const isBorn = isSameTime(inMs(status.birthtimeNs), proof.birth);
  const isOfTime = proof.mtime !== undefined && isSameTime(inMs(status.mtimeNs), proof.mtime);
  const isInPlace = status.ino === proof.ino && (isBorn || isOfTime);
  if (proof.size === undefined) return isInPlace || isOfTime && isBorn && proof.birth > 0 ? status : undefined;
  return Number(status.size) === proof.size && (isInPlace || isOfTime) ? status : undefined;
}

/** Returns the status of the object at a path; undefined if there is none, or a part of the path is a file. */
function statusOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function inMs(ns: bigint): number {
  return Number(ns) / 1e6;
}

function isSameTime(one: number, other: number): boolean {
  return Math.abs(one - other) < EXACTNESS;
}

export interface SeriesEntry {
  readonly number: number;
  /** The time in ms since 1970 at which it was opened. */
  readonly opened: number;
  readonly file: FileProof;
  /** The size at which a stream was closed and left the file for the next one. */
  readonly end?: number;
  /** The compressed form, recorded just before it gets its name. */
  readonly packed?: Required<FileProof> & { readonly extension: string };
  /** Whether only the compressed form exists. */
  readonly isPacked?: boolean;
  /** Whether another file has the compressed form's name. */
  readonly isRaw?: boolean;
}

/** The time in ms for which a locked file is awaited before a step fails. */
const LOCKED_FOR = 500;

/** Whether another stream has the series: errors of the system have a cause. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === "EBUSY" && (error as Error).cause === undefined;
}

/** The number of lines after the first ones of a record before it is rewritten. */
const SPARE_LINES = 1000;

/**
 * The record of a series' files, beside them: a line of JSON for each new fact about a file, written before it takes
 * effect. Only files that it proves are continued, compressed or removed.
 */
export class SeriesRecord {
  readonly #path: string;
  readonly #lock: Pick<ProcessLock, "isLost">;
  #entries = new Map<number, SeriesEntry>();
  /** Whether another stream has begun a compression whose end it has not recorded. */
  hasBegun = false;
  #lines = 0;
  /** Whether the record must be rewritten: it is another stream's, or its last line may be incomplete. */
  #isStale = true;
  /** The lines that were not written yet, since another program has locked the record. */
  #due = "";
  /** The maximum time in ms for which locks of other programs block the thread; the default of each call if undefined. */
  maxWait: number | undefined = undefined;
  /** The highest number that was given to a file, or is reserved. */
  last = 0;

  constructor(directory: string, name: string, lock: Pick<ProcessLock, "isLost">) {
    this.#path = join(directory, name);
    this.#lock = lock;
  }

  get entries(): SeriesEntry[] {
    return [...this.#entries.values()];
  }

  entry(number: number): SeriesEntry | undefined {
    return this.#entries.get(number);
  }

  /** Reserves all numbers up to this one, so that no file gets them. */
  reserve(number: number): void {
    this.last = Math.max(this.last, number);
  }

  /** Reads the record of earlier streams. The last line may be incomplete; other invalid lines are skipped. */
  load(): void {
    for (const line of this.#read().split("\n")) {
      const change = parsedChange(line);
      if (change !== undefined) this.#apply(change);
    }
    const whole = [...this.#entries].filter(([, { isPacked, packed }]) => !isPacked || packed !== undefined);
    this.hasBegun = whole.some(([, { isPacked, packed }]) => packed !== undefined && !isPacked);
    this.#entries = new Map(whole.sort(([one], [other]) => one - other));
  }

  /** Reads another stream's additions; if the record was removed, the known state stays. */
  reload(): void {
    const known = this.#entries;
    this.#entries = new Map();
    this.load();
    if (this.#entries.size === 0) this.#entries = known;
  }

  /** Runs a step, and repeats it for half a second after pauses of the event loop while another program has locked a file. */
  unblocked<T>(step: () => T | Promise<T>): T | Promise<T> {
    const attempt = (): T | Promise<T> => {
      this.maxWait = 0;
      try {
        return step();
      } finally {
        this.maxWait = undefined;
      }
    };
    try {
      return attempt();
    } catch (error) {
      if (isTaken(error) || !IN_USE.has(codeOf(error) ?? "")) throw error;
      return whileRefused(attempt, { codes: IN_USE, deadline: LOCKED_FOR });
    }
  }

  /** Records a fact about a file that must be known before the next step; if it cannot be written, it is not recorded. */
  note(number: number, change: Partial<SeriesEntry>): void {
    const [entry, last, due] = [this.entry(number), this.last, this.#due];
    try {
      this.#append({ number, ...change });
    } catch (error) {
      if (entry === undefined) this.#entries.delete(number);
      else this.#entries.set(number, entry);
      [this.last, this.#due] = [last, due];
      throw error;
    }
  }

  /** Records a fact that the next stream could find out itself, so that a full disk is no failure. */
  noteIfPossible(number: number, change: Omit<Change, "number">): void {
    try {
      this.#append({ number, ...change });
    } catch (error) {
      this.#isStale ||= !UNSHARED.has(codeOf(error) ?? "");
    }
  }

  /** Records that a file no longer belongs to the series, which the next stream could find out, too. */
  forget(number: number): void {
    this.noteIfPossible(number, { isGone: true });
  }

  /** Rewrites the record atomically. */
  rewrite(): void {
    const entries: Change[] = this.entries;
    if (this.last > 0 && !this.#entries.has(this.last)) entries.push({ number: this.last, isGone: true });
    const text = entries.map((entry) => lineOf(entry)).join("");
    const temporary = temporaryPath(this.#path);
    try {
      this.#attempt(() => {
        writeNew(temporary, text);
        renameFileNow(temporary, this.#path);
      });
    } catch (error) {
      removeOwn(temporary);
      throw error;
    }
    this.#lines = 0;
    this.#isStale = false;
    this.#due = "";
  }

  #append(change: Change): void {
    this.#apply(change);
    if (this.#isStale || ++this.#lines > SPARE_LINES + 4 * this.#entries.size) return this.rewrite();
    this.#due += lineOf(change);
    const { O_APPEND, O_WRONLY } = constants;
    this.#attempt(() =>
      withFileNow(this.#path, O_APPEND | O_WRONLY, (descriptor, { nlink }) => {
        if (nlink > 1n) return;
        try {
          whileRefusedNow(() => writeFileSync(descriptor, this.#due), { codes: UNSHARED, deadline: this.maxWait });
          this.#due = "";
        } catch (error) {
          this.#isStale = !UNSHARED.has(codeOf(error) ?? ""); // a full disk may take half a line
          throw error;
        }
      }, this.maxWait)
    );
    if (this.#due !== "") this.rewrite(); // another object has its name
  }

  #apply({ isGone, ...change }: Change): void {
    this.reserve(change.number);
    const known = this.#entries.get(change.number);
    if (isGone || (change.file === undefined && known === undefined)) this.#entries.delete(change.number);
    else this.#entries.set(change.number, { ...known, ...change } as SeriesEntry);
  }

  #read(): string {
    try {
      return withFileNow(
        this.#path,
        constants.O_RDONLY,
        (descriptor) => readFileSync(descriptor, "utf8"),
        this.maxWait,
      ) ?? "";
    } catch (error) {
      throw fileFailure("read", this.#path, error);
    }
  }

  #attempt(write: () => void): void {
    try {
      if (this.#lock.isLost) throw new Error("another stream has taken the series over");
      write();
    } catch (error) {
      throw fileFailure("write", this.#path, error);
    }
  }
}

function writeNew(path: string, text: string): void {
  const file = OpenFile.openNow(path, "wx");
  try {
    if (text !== "") file.writeNow([new TextEncoder().encode(text)]);
  } finally {
    file.closeNow();
  }
}

/** An update to the entry of a file; its first one has all required properties. */
type Change = Partial<SeriesEntry> & { readonly number: number; readonly isGone?: boolean };

/** Returns the line of a change. Numbers of files are written as texts, since JSON's numbers would not be exact. */
function lineOf(change: Change): string {
  const text = JSON.stringify(change, (_name, value: unknown) => {
    if (typeof value !== "bigint") return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value); // file numbers from 2^63 on are negative
  });
  return `${text}\n`;
}

function fromJson(name: string, value: unknown): unknown {
  if (name !== "ino") return value;
  if (typeof value === "string") {
    return /^-?\d+$/.test(value) && !Number.isSafeInteger(Number(value)) ? BigInt(value) : value;
  }
  return Number.isInteger(value) ? BigInt(value as number) : value;
}

/** Returns the entry of a line, or undefined. It contains no paths: names are made from numbers. */
function parsedChange(line: string): Change | undefined {
  let change: Change;
  try {
    change = JSON.parse(line, fromJson);
  } catch {
    return undefined;
  }
  if (!Number.isInteger(change?.number) || change.number < 1 || change.number > MAX_NUMBER) return undefined;
  const { opened, file, packed } = change;
  if (opened !== undefined && typeof opened !== "number") return undefined;
  if (file !== undefined && !(file?.size === undefined ? typeof file?.ino === "bigint" : isProofOfComplete(file))) {
    return undefined;
  }
  if (packed === undefined) return change;
  return isProofOfComplete(packed) && /^(?:zst|gz|br)$/.test(String(packed.extension)) ? change : undefined;
}
