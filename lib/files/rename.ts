import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { passingRefusals } from "../runtime/mod.ts";
import { sleep, Timer } from "../timers/mod.ts";
import { codeOf, isMissing } from "./failure.ts";

/** The maximum time in ms for which a refusal is retried, asynchronously and blocking: scanners keep files open for about a second. */
const RENAME_TIMEOUT = { later: 5000, now: 500 };
/** The refusal while a file server's lease on a file is being revoked, which takes at most 45 s. */
export const LEASED: ReadonlySet<string> = new Set(["EAGAIN"]);
/** The refusal on Windows while another program has a file open without sharing it, or has locked a part of it. */
export const UNSHARED: ReadonlySet<string> = new Set(["EBUSY"]);
/** The refusals while no descriptor or memory is free, or a file server does not find what it has just named. */
export const SHORTAGE: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "ESTALE"]);
/** The refusals to open a file that say nothing about its content. */
export const NOT_NOW: ReadonlySet<string> = new Set([...SHORTAGE, ...UNSHARED]);
/** The refusals of files that other programs have open. */
export const IN_USE: ReadonlySet<string> = new Set([...LEASED, ...UNSHARED]);
/** The first and the maximum pause in ms between attempts. */
const PAUSES = { first: 1, longest: 100 };

export interface Patience {
  /** The codes of transient refusals. Default: those of this system; most systems have none. */
  readonly codes?: ReadonlySet<string>;
  /** The maximum time in ms from the first attempt on. Default: 5000, or 500 if the wait blocks the thread. */
  readonly deadline?: number | undefined;
}

/** Computes the pause before each further attempt after a refusal. */
class Attempts {
  readonly #codes: ReadonlySet<string>;
  /** The rest of the time in ms: reduced by the time that has passed, at least by the pauses, as a test's clock may stand still. */
  #rest: number;
  #at: number = performance.now();
  #pause = PAUSES.first;
  #length = 0;

  constructor({ codes = passingRefusals(), deadline }: Patience, fallback: number) {
    this.#codes = codes;
    this.#rest = deadline ?? fallback;
  }

  /** Returns the next pause in ms, random so that callers spread. @throws {unknown} `error`, if it is not transient or the time is over. */
  next(error: unknown): number {
    const now = performance.now();
    this.#rest -= Math.max(now - this.#at, this.#length);
    this.#at = now;
    if (this.#rest <= 0 || !this.#codes.has(codeOf(error) ?? "")) throw error;
    this.#length = Math.min(this.#pause * (0.5 + Math.random() / 2), this.#rest);
    this.#pause = Math.min(PAUSES.longest, this.#pause * 2);
    return this.#length;
  }
}

/** Repeats a call while another process has the file open. @throws {Error} the last refusal after the deadline. */
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

/** Repeats a call that opens a file while another program has it open without sharing. */
export function whileUnshared<T>(open: () => T | Promise<T>): Promise<T> {
  return whileRefused(open, { codes: UNSHARED });
}

/**
 * Repeats a call on an open file while another program has locked a part of it.
 *
 * @param error The failure of the first attempt, which is thrown at once if it has another reason.
 */
export function whileLocked<T>(error: unknown, call: () => T | Promise<T>): Promise<T> {
  if (!UNSHARED.has(codeOf(error) ?? "")) throw error;
  return whileRefused(call, { codes: UNSHARED });
}

/** Repeats a call like {@linkcode whileRefused}, but blocks the thread. */
export function whileRefusedNow<T>(call: () => T, patience: Patience = {}): T {
  let attempts: Attempts | undefined;
  for (;;) {
    try {
      return call();
    } catch (error) {
      attempts ??= new Attempts(patience, RENAME_TIMEOUT.now);
      block(attempts.next(error));
    }
  }
}

/** Blocks the thread. */
export function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The running attempts of this process to replace a file, by its path. */
const running = new Map<string, Promise<void>>();

/** Runs an attempt to replace a file after the running ones: on Windows, two at once refuse each other. */
async function inTurn(path: string, attempt: () => Promise<void>): Promise<void> {
  if (passingRefusals().size === 0) return await attempt();
  const own = (running.get(path) ?? Promise.resolve()).then(attempt, attempt);
  running.set(path, own);
  try {
    await own;
  } finally {
    if (running.get(path) === own) running.delete(path);
  }
}

/**
 * Renames a file, and replaces an existing file `to`. Windows refuses that while any process has one of the two open:
 * there it is retried for some seconds, and a read-only file is made writable first.
 *
 * @param options.atOnce Whether calls are synchronous; pauses between them never are.
 * @param options.before Called before each attempt, in the same turn of the event loop; an exception in it rejects the
 * promise.
 */
export async function renameFile(
  from: string,
  to: string,
  { atOnce = false, before, ...patience }: Patience & {
    readonly atOnce?: boolean;
    readonly before?: (() => void) | undefined;
  } = {},
): Promise<void> {
  const attempt = async (): Promise<void> => {
    before?.();
    try {
      if (atOnce) renameSync(from, to);
      else await rename(from, to);
    } catch (error) {
      throw allowReplacement(to, error);
    }
  };
  await whileRefused(() => atOnce ? attempt() : inTurn(to, attempt), patience);
}

/** Renames a file like {@linkcode renameFile}, synchronously: refusals block the thread for at most half a second. */
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

/** Removes a file or link once no other process has it open: refusals block the thread for at most half a second. */
export function removeFileNow(path: string): void {
  whileRefusedNow(() => unlinkSync(path));
}

/** Removes a file like {@linkcode removeFileNow}, but ignores failures: a sweep, or the next holder of a lock, removes it. */
export function removeIfPossible(path: string): void {
  refusalOf(() => removeFileNow(path));
}

/** Whether a path certainly has no object: a look that fails for another reason proves nothing. */
export function isAbsent(path: string): boolean {
  return refusalOf(() => void lstatSync(path)) === "ENOENT";
}

/** The files of this process that could not be removed yet, each with the alternative to its removal. */
const leftovers = new Map<string, (() => void) | undefined>();
let pause: number = PAUSES.longest;
const retry = /* @__PURE__ */ new Timer(removeLeftovers, { keepsAlive: false });

/**
 * Removes a file of this process whose name no other file ever has. If that fails, it is retried while the process
 * runs, which the retries do not keep running. Returns the code of the failure; never throws.
 *
 * @param otherwise Called after each failure.
 */
export function removeOwn(path: string, otherwise?: () => void): string | undefined {
  const code = refusalOf(() => removeFileNow(path));
  if (code !== undefined && code !== "ENOENT") removeLater(path, otherwise);
  return code;
}

/** Retries the removal of a file of this process, like {@linkcode removeOwn} after a failure. */
export function removeLater(path: string, otherwise?: () => void): void {
  leftovers.set(path, otherwise);
  otherwise?.();
  retry.start(pause = PAUSES.longest);
}

/** Removes the files of this process whose removal has failed. */
export function removeLeftovers(): void {
  for (const [path, otherwise] of leftovers) {
    const code = refusalOf(() => unlinkSync(path));
    if (code === undefined || code === "ENOENT") leftovers.delete(path);
    else if (!passingRefusals().has(code)) otherwise?.();
  }
  pause = Math.min(2 * pause, RENAME_TIMEOUT.later);
  if (leftovers.size > 0) retry.start(pause);
}

/** Returns the code of a call's failure; "ENOENT" if a path does not exist. */
function refusalOf(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return isMissing(error) ? "ENOENT" : codeOf(error) ?? "EIO";
  }
}

/** Removes an empty folder like {@linkcode removeFileNow} removes a file. */
export function removeFolderNow(path: string): void {
  whileRefusedNow(() => rmdirSync(path));
}

/**
 * Opens the object at a path, without waiting for a pipe, and calls `use` if it is a regular file. Returns undefined
 * for a link or any other object, which another user may have put there.
 *
 * @param use Called with the descriptor, which is closed afterwards.
 * @param deadline The maximum time in ms for which refusals block the thread. Default: 500.
 */
export function withFileNow<T>(
  path: string,
  flags: number,
  use: (descriptor: number, status: BigIntStats) => T,
  deadline?: number,
): T | undefined {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let descriptor: number;
  try {
    descriptor = whileRefusedNow(() => openSync(path, flags | O_NOFOLLOW | O_NONBLOCK), { codes: IN_USE, deadline });
  } catch (error) {
    if (["ELOOP", "ENOENT", "ENXIO"].includes(codeOf(error)!)) return undefined;
    throw error;
  }
  try {
    const status = fstatSync(descriptor, { bigint: true });
    return status.isFile() ? use(descriptor, status) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** The write permission of a file's owner; on Windows, the absence of the read-only attribute. */
export const WRITABLE = 0o200;

/** Clears the read-only attribute of a file that Windows refuses to replace; POSIX does not need that. Returns the refusal. */
function allowReplacement(path: string, refusal: unknown): unknown {
  const status = passingRefusals().has(codeOf(refusal) ?? "") && lstatSync(path, { throwIfNoEntry: false });
  if (status && status.isFile() && !(status.mode & WRITABLE)) chmodSync(path, status.mode | WRITABLE);
  return refusal;
}
