import { type BigIntStats, constants, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../created_file.ts";
import { fileFailure } from "../failure.ts";
import { withFileNow } from "../place.ts";
import type { ProcessLock } from "../process_lock.ts";
import { removeIfPossible, renameFileNow } from "../rename.ts";
import { temporaryPath } from "../temporary.ts";
import { isTemporaryName } from "../names.ts";
import { MAX_NUMBER } from "./file_series.ts";

/** Proof that a file is one that a series wrote: its place on the disk, and its size and time once it is complete. */
export interface FileProof {
  readonly ino: bigint;
  /** The time of the file's birth, in ms since 1970, where the file system knows. */
  readonly birth: number;
  /** In bytes; of a file that is complete. */
  readonly size?: number;
  /** The time of its last change, in ms since 1970; of a file that is complete. */
  readonly mtime?: number;
}

export function isProofOfComplete(value: unknown): value is Required<FileProof> {
  const proof = value as Partial<FileProof> | null;
  return typeof proof?.ino === "bigint" && typeof proof.size === "number" && typeof proof.mtime === "number";
}

/** The precision of the file system's times, which some runtimes give in fractions of a ms and others without. */
const EXACTNESS = 1;

export function proofOfOpen(status: BigIntStats): FileProof {
  return { ino: status.ino, birth: inMs(status.birthtimeNs) };
}

export function proofOfComplete(status: BigIntStats): Required<FileProof> {
  return { ...proofOfOpen(status), size: Number(status.size), mtime: inMs(status.mtimeNs) };
}

/**
 * Returns the status of the file at `path` if it is the one of the proof: a regular file, with one name, at the same
 * place of the disk or, as a copy of the whole folder has it, of the same time, and of the same size if it is complete.
 */
export function provenFile(path: string, proof: FileProof): BigIntStats | undefined {
  const status = statusOf(path);
  if (status === undefined || !status.isFile()) return undefined;
  const isInPlace = status.ino === proof.ino && isSameTime(inMs(status.birthtimeNs), proof.birth);
  if (proof.size === undefined) return isInPlace ? status : undefined;
  const isOfTime = proof.mtime !== undefined && isSameTime(inMs(status.mtimeNs), proof.mtime);
  return Number(status.size) === proof.size && (isInPlace || isOfTime) ? status : undefined;
}

/** Returns the status of what has the path; undefined if nothing has, or a part of it is a file. */
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
  /** The time of its opening, in ms since 1970. */
  readonly opened: number;
  readonly file: FileProof;
  /** The size at which a stream was closed that has left the file for the next one to continue. */
  readonly end?: number;
  /** The name of the file that the compressed form is written to. */
  readonly temporary?: string;
  /** The compressed form, from just before it gets its name. */
  readonly packed?: Required<FileProof> & { readonly extension: string };
  /** Whether only the compressed form is left. */
  readonly isPacked?: boolean;
  /** Whether the compressed form's name is taken by another file. */
  readonly isRaw?: boolean;
}

/** Lines that may follow the first ones of a record before it is written anew. */
const SPARE_LINES = 1000;

/**
 * The record of the files that a series has written, beside them: a line of JSON for everything that becomes known of a
 * file, each written before it matters. Only files that it proves are continued, compressed or removed.
 */
export class SeriesRecord {
  readonly #path: string;
  readonly #lock: Pick<ProcessLock, "isLost">;
  #entries = new Map<number, SeriesEntry>();
  #lines = 0;
  /** Whether the file is to be written anew: it is another stream's, or its last line may be torn. */
  #isStale = true;
  /** The largest number that a file has had, or that is not to be given to one any more. */
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

  /** Keeps all numbers up to this one from being given to a file. */
  reserve(number: number): void {
    this.last = Math.max(this.last, number);
  }

  /** Reads what earlier streams have recorded. The last line may be torn; others that are no entries are passed over. */
  load(): void {
    for (const line of this.#read().split("\n")) {
      const change = parsedChange(line);
      if (change !== undefined) this.#apply(change);
    }
    const whole = [...this.#entries].filter(([, { isPacked, packed }]) => !isPacked || packed !== undefined);
    this.#entries = new Map(whole.sort(([one], [other]) => one - other));
  }

  /** Reads what another stream has recorded meanwhile; a record that is gone stays as it was known. */
  reload(): void {
    const known = this.#entries;
    this.#entries = new Map();
    this.load();
    if (this.#entries.size === 0) this.#entries = known;
  }

  /** Notes something of a file that has to be known before what follows; what cannot be written is not noted. */
  note(number: number, change: Partial<SeriesEntry>): void {
    const [entries, last] = [new Map(this.#entries), this.last];
    try {
      this.#append({ number, ...change });
    } catch (error) {
      [this.#entries, this.last] = [entries, last];
      throw error;
    }
  }

  /** Notes something that the next stream would find out by itself: a full disk is no reason to fail. */
  noteIfPossible(number: number, change: Partial<SeriesEntry>): void {
    this.#appendIfPossible({ number, ...change });
  }

  /** Notes that a file is none of the series any more: that, too, the next stream would find out. */
  forget(number: number): void {
    this.#appendIfPossible({ number, isGone: true });
  }

  /** Writes the record anew, whole or not at all. */
  rewrite(): void {
    const entries: Change[] = this.entries;
    if (this.last > 0 && !this.#entries.has(this.last)) entries.push({ number: this.last, isGone: true });
    const lines = entries.map((entry) => lineOf(entry));
    const temporary = temporaryPath(this.#path);
    try {
      this.#attempt(() => {
        writeFileSync(temporary, lines.join(""), { flag: "wx" });
        renameFileNow(temporary, this.#path);
      });
    } catch (error) {
      removeIfPossible(temporary);
      throw error;
    }
    this.#lines = 0;
    this.#isStale = false;
  }

  #append(change: Change): void {
    this.#apply(change);
    if (this.#isStale || ++this.#lines > SPARE_LINES + 4 * this.#entries.size) return this.rewrite();
    this.#isStale = true; // a disk that is full takes half a line
    const { O_APPEND, O_WRONLY } = constants;
    this.#attempt(() =>
      withFileNow(this.#path, O_APPEND | O_WRONLY, (descriptor, { nlink }) => {
        if (nlink > 1n) return;
        writeFileSync(descriptor, lineOf(change));
        this.#isStale = false;
      })
    );
    if (this.#isStale) this.rewrite(); // something else has its name
  }

  #appendIfPossible(change: Change): void {
    try {
      this.#append(change);
    } catch {
      this.#isStale = true;
    }
  }

  #apply({ isGone, ...change }: Change): void {
    this.reserve(change.number);
    const known = this.#entries.get(change.number);
    if (isGone || (change.file === undefined && known === undefined)) this.#entries.delete(change.number);
    else this.#entries.set(change.number, { ...known, ...change } as SeriesEntry);
  }

  #read(): string {
    try {
      return withFileNow(this.#path, constants.O_RDONLY, (descriptor) => readFileSync(descriptor, "utf8")) ?? "";
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

/** An update to the entry of a file; the first one has all required properties. */
type Change = Partial<SeriesEntry> & { readonly number: number; readonly isGone?: boolean };

/** The line of a change. Numbers of files are written as texts where JSON's numbers would not be exact. */
function lineOf(change: Change): string {
  const text = JSON.stringify(change, (_name, value: unknown) => {
    if (typeof value !== "bigint") return value;
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value); // those from 2^63 on are negative
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

/** Returns the entry of a line, or undefined. Nothing in it is a path: names are made of numbers, or checked. */
function parsedChange(line: string): Change | undefined {
  let change: Change;
  try {
    change = JSON.parse(line, fromJson);
  } catch {
    return undefined;
  }
  if (!Number.isInteger(change?.number) || change.number < 1 || change.number > MAX_NUMBER) return undefined;
  const { opened, file, temporary, packed } = change;
  if (opened !== undefined && typeof opened !== "number") return undefined;
  if (file !== undefined && !(file?.size === undefined ? typeof file?.ino === "bigint" : isProofOfComplete(file))) {
    return undefined;
  }
  if (temporary !== undefined && !(typeof temporary === "string" && isTemporaryName(temporary))) return undefined;
  if (packed === undefined) return change;
  return isProofOfComplete(packed) && /^(?:zst|gz|br)$/.test(String(packed.extension)) ? change : undefined;
}
