import { chmodSync, lstatSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { rename } from "node:fs/promises";
import { passingRefusals } from "../runtime/mod.ts";
import { sleep } from "../timers/mod.ts";
import { codeOf } from "./failure.ts";

/** The ms for which a refusal is retried, and where that blocks the thread: scanners hold files for about a second. */
const RENAME_TIMEOUT = { later: 5000, now: 500 };
/** The refusal of a file on which a file server has a lease, which it gives up: 45 s is the system's limit for that. */
export const LEASED: ReadonlySet<string> = new Set(["EAGAIN"]);
/** The refusal of a file that another program has open and shares with none, which Windows lets it do. */
export const UNSHARED: ReadonlySet<string> = new Set(["EBUSY"]);
/** The refusals of files that others have open. */
export const IN_USE: ReadonlySet<string> = new Set([...LEASED, ...UNSHARED]);
/** The first pause between attempts, and the longest, in ms. */
const PAUSES = { first: 1, longest: 100 };

export interface Patience {
  /** The codes of refusals that pass. Default: those of this system, which on most has none. */
  readonly codes?: ReadonlySet<string>;
  /** The time from the first attempt on, in ms. Default: 5000, or 500 where the wait blocks the thread. */
  readonly deadline?: number;
}

/** Decides after each refusal how long to pause before the next attempt. */
class Attempts {
  readonly #codes: ReadonlySet<string>;
  readonly #end: number;
  #pause = PAUSES.first;

  constructor({ codes = passingRefusals(), deadline }: Patience, fallback: number) {
    this.#codes = codes;
    this.#end = performance.now() + (deadline ?? fallback);
  }

  /** Returns the next pause in ms, random so that callers part. @throws {unknown} `error`, if it does not pass in time. */
  next(error: unknown): number {
    const rest = this.#end - performance.now();
    if (rest <= 0 || !this.#codes.has(codeOf(error) ?? "")) throw error;
    const length = this.#pause * (0.5 + Math.random() / 2);
    this.#pause = Math.min(PAUSES.longest, this.#pause * 2);
    return Math.min(length, rest);
  }
}

/** Makes a call again while another process has the file open. @throws {Error} the last refusal after the deadline. */
export async function whileRefused<T>(call: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  let attempts: Attempts | undefined;
  for (;;) {
    attempts ??= new Attempts(patience, RENAME_TIMEOUT.later);
    try {
      return await call();
    } catch (error) {
      await sleep(attempts.next(error));
    }
  }
}

/** Makes a call that opens a file again while another program has it and shares it with none. */
export function whileUnshared<T>(open: () => T | Promise<T>): Promise<T> {
  return whileRefused(open, { codes: UNSHARED });
}

/** Does what {@linkcode whileRefused} does, but blocks the thread meanwhile. */
export function whileRefusedNow<T>(call: () => T, patience: Patience = {}): T {
  const attempts = new Attempts(patience, RENAME_TIMEOUT.now);
  for (;;) {
    try {
      return call();
    } catch (error) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, attempts.next(error));
    }
  }
}

/**
 * Renames a file, in place of what has the name `to`. Windows refuses that while any process has one of the two open: it
 * is tried again for some seconds there, and a read-only file is made writable first.
 *
 * @param options.atOnce Whether calls are made synchronously; pauses between them never are.
 * @param options.before Called before each attempt, in its turn of the event loop; what it throws rejects the promise.
 */
export async function renameFile(
  from: string,
  to: string,
  { atOnce = false, before, ...patience }: Patience & {
    readonly atOnce?: boolean;
    readonly before?: (() => void) | undefined;
  } = {},
): Promise<void> {
  await whileRefused(async () => {
    before?.();
    try {
      if (atOnce) renameSync(from, to);
      else await rename(from, to);
    } catch (error) {
      throw allowReplacement(to, error);
    }
  }, patience);
}

/** Renames a file as {@linkcode renameFile} does, synchronously: refusals block the thread for half a second at most. */
export function renameFileNow(from: string, to: string, before?: () => void): void {
  whileRefusedNow(() => {
    before?.();
    try {
      renameSync(from, to);
    } catch (error) {
      throw allowReplacement(to, error);
    }
  });
}

/** Removes a file, or a link, once no other process has it open: refusals block the thread for half a second at most. */
export function removeFileNow(path: string): void {
  whileRefusedNow(() => unlinkSync(path));
}

/** Removes a file as {@linkcode removeFileNow} does, if that can be done. */
export function removeIfPossible(path: string): void {
  try {
    removeFileNow(path);
  } catch {
    // It is gone, or is left to a sweep, or to the next holder of a lock.
  }
}

/** Removes an empty folder as {@linkcode removeFileNow} does a file. */
export function removeFolderNow(path: string): void {
  whileRefusedNow(() => rmdirSync(path));
}

/** The permission of a file's owner to write to it; on Windows, the read-only attribute's opposite. */
export const WRITABLE = 0o200;

/** Takes the read-only attribute from a file that Windows refuses to replace; POSIX replaces any. Returns the refusal. */
function allowReplacement(path: string, refusal: unknown): unknown {
  const status = passingRefusals().has(codeOf(refusal) ?? "") && lstatSync(path, { throwIfNoEntry: false });
  if (status && status.isFile() && !(status.mode & WRITABLE)) chmodSync(path, status.mode | WRITABLE);
  return refusal;
}
