import { randomUUID } from "node:crypto";
import { closeSync, constants, futimesSync, openSync, readFileSync, writeSync } from "node:fs";
import { lstat, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { processSpace } from "../files/internal.ts";
import { isProcessAlive } from "../runtime/mod.ts";
import { checkedRecord, checkedVariant, isBelowFolder, isFormat } from "./manifest.ts";
import type { FileRecord, VariantRecord } from "./records.ts";
import type { DeltaFormat, VariantFormat } from "./formats.ts";
import { journalName } from "./manifest.ts";
import { cannotWrite } from "./problem.ts";

/** The beginning of a journal's first line. */
const FIRST_WORDS = '\n{"space":';
/** How often a run that is under way touches its journal, in ms. */
const HEARTBEAT = 5000;
/** A journal that nobody touched for so long belongs to a run that was killed, in ms. */
const LONGEST_SILENCE = 30_000;

/** Journals of runs in this process. */
const running = new Set<string>();

/** A file that is about to get its name: a copy, or a variant of the file at `path`. */
export interface JournalEntry {
  readonly path: string;
  /** The file itself; its variants are not told here. */
  readonly record: FileRecord;
  /** The variant, unless the entry is about a copy. */
  readonly made?: { readonly format: VariantFormat | DeltaFormat; readonly variant: VariantRecord };
}

/** A run that a journal is of, or was until it was killed. */
interface Owner {
  readonly space: unknown;
  readonly pid: unknown;
  /** The identifier of the run. */
  readonly run: unknown;
  /** How long the journal was that it found, whose run was at an end. */
  readonly after: unknown;
}

/** A journal as it was found. */
export interface FoundJournal {
  readonly entries: readonly JournalEntry[];
  /** Whether the run copied the files themselves. */
  readonly copied: boolean;
  /** The length of the file in bytes, by which a change is seen. */
  readonly length: number;
  readonly isHeld: boolean;
}

/**
 * The journal in `folder`, if there is one: a run is under way, or was killed.
 *
 * @throws {Error} if it cannot be read.
 */
export async function readJournal(folder: string): Promise<FoundJournal | undefined> {
  const path = join(folder, journalName);
  let text: string;
  try {
    // Not through a link, and not of a pipe, whose end may never come.
    if (!(await lstat(path)).isFile()) throw notOurs(path);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  const entries: JournalEntry[] = [];
  const owners: Owner[] = [];
  let copied = false;
  for (const value of valuesOf(text)) {
    if (isOwner(value)) {
      owners.push(value);
      copied = value.copied === true;
    } else {
      const entry = checkedEntry(value);
      if (entry) entries.push(entry);
    }
  }
  if (owners.length === 0 && !FIRST_WORDS.startsWith(text.slice(0, FIRST_WORDS.length))) throw notOurs(path);
  const touched = await stat(path).then(({ mtimeMs }) => mtimeMs, () => 0);
  // Of those that found the same, the first is at work.
  const latest = owners.filter(({ after }) => after === owners.at(-1)!.after);
  const isHeld = touched > Date.now() - LONGEST_SILENCE && latest.some((owner) => mayRun(owner, path));
  return { entries, copied, length: text.length, isHeld };
}

/**
 * Tells, line by line and before it happens, which bytes a run puts where; so that after a kill the next run knows them
 * for ours, and need not make them again. It is also the folder's lock: a second run finds it and leaves.
 */
export class Journal {
  readonly #path: string;
  #descriptor: number;
  readonly #timer: ReturnType<typeof setInterval>;

  private constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
    running.add(path);
    this.#timer = setInterval(() => this.#touch(), HEARTBEAT);
    this.#timer.unref();
  }

  /**
   * Takes the folder for a run. What a killed one told stays in the journal.
   *
   * @param copied Whether the files themselves are copied there.
   * @param expected How long the journal was when the run was planned; undefined if there was none.
   * @throws {Error} if another run is under way, or was since, or the folder cannot be written to.
   */
  static async open(folder: string, copied: boolean, expected: number | undefined): Promise<Journal> {
    const path = join(folder, journalName);
    const found = await readJournal(folder);
    // Nothing is waited for from here on, so that another run in this process sees that this one is at work.
    if (found?.isHeld || running.has(path)) throw atWork(folder);
    if (found?.length !== expected) throw changedMeanwhile(folder);
    const { O_APPEND, O_WRONLY, O_NOFOLLOW = 0 } = constants;
    let descriptor: number;
    try {
      descriptor = openSync(path, found ? O_APPEND | O_WRONLY | O_NOFOLLOW : "ax");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw changedMeanwhile(folder);
      throw cannotWrite(folder, error);
    }
    const journal = new Journal(path, descriptor);
    const run = randomUUID();
    try {
      // A line end first: the last line may have been torn.
      const owner = { space: processSpace(), pid: process.pid, run, after: expected ?? 0 };
      journal.#write(`\n${JSON.stringify({ ...owner, copied })}\n`);
      if (found === undefined || firstOwner(readFileSync(path, "utf8").slice(expected)) === run) return journal;
    } catch (error) {
      journal.leave();
      throw cannotWrite(folder, error);
    }
    journal.leave();
    throw atWork(folder);
  }

  /**
   * Tells of a file that gets its name next.
   *
   * @throws {Error} if that cannot be written, so that the file must not get its name.
   */
  append(entry: JournalEntry): void {
    this.#write(`${JSON.stringify(entry)}\n`);
  }

  /** Ends the journal, of which the manifest has all now. */
  async remove(): Promise<void> {
    this.leave();
    await rm(this.#path, { force: true });
  }

  /** Leaves the journal to the next run. */
  leave(): void {
    if (this.#descriptor === -1) return;
    clearInterval(this.#timer);
    running.delete(this.#path);
    closeSync(this.#descriptor);
    this.#descriptor = -1;
  }

  /** At once: it has to be told before what it tells of is done. */
  #write(text: string): void {
    const bytes = new TextEncoder().encode(text);
    for (let start = 0; start < bytes.length;) start += writeSync(this.#descriptor, bytes, start);
  }

  #touch(): void {
    const now = Date.now() / 1000;
    try {
      futimesSync(this.#descriptor, now, now);
    } catch {
      // A folder that is gone fails the run by itself.
    }
  }
}

function notOurs(path: string): Error {
  return new Error(`${path} is in the way of a run's journal, and none: remove it and run again`);
}

function atWork(folder: string): Error {
  return new Error(`another run is at work in ${folder}: wait for it, or remove ${journalName} if there is none`);
}

/** Says that what a run was planned for is not there any more. */
export function changedMeanwhile(folder: string): Error {
  return new Error(`another run changed ${folder} meanwhile: run again`);
}

/** Whether the process of a journal that was touched lately may still be at work. */
function mayRun({ space, pid }: Owner, path: string): boolean {
  if (space !== processSpace()) return true;
  // In a container, the process that was killed often had the id of this one.
  return pid === process.pid ? running.has(path) : isProcessAlive(Number(pid)) !== false;
}

/** The values in the lines of a journal. A line that a kill has torn has none: the file it told of has not got its name. */
function valuesOf(text: string): Record<string, unknown>[] {
  return text.split("\n").map(parsed).filter((value) => value !== undefined);
}

function isOwner(value: Record<string, unknown>): value is Record<string, unknown> & Owner {
  return "pid" in value;
}

/** The run whose line is the first. */
function firstOwner(text: string): unknown {
  return valuesOf(text).find(isOwner)?.run;
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
  if (typeof path !== "string" || !isBelowFolder(path) || checked === undefined) return undefined;
  if (made === undefined) return { path, record: checked };
  const { format, variant } = (made ?? {}) as { format?: unknown; variant?: unknown };
  const checkedMade = checkedVariant(variant);
  return isFormat(format) && checkedMade
    ? { path, record: checked, made: { format, variant: checkedMade } }
    : undefined;
}
