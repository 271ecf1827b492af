import { constants, existsSync, lutimesSync, readdirSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { Interval, sleep } from "../timers/mod.ts";
import { userNumber } from "../runtime/mod.ts";
import { codeOf, failingNow, FULL } from "./failure.ts";
import {
  BeatWatch,
  HAND_OVER_REQUEST,
  held,
  HELD_UP,
  LockHolder,
  lockPrefix,
  LOST,
  makeIfPossible,
  newLockName,
  removeLockFile,
  takeOver,
  Turn,
  UNCHECKED,
} from "./lock_holder.ts";
import { OpenFile } from "./open_file.ts";
import { isAbsent, removeIfPossible, removeOwn, withFileNow } from "./rename.ts";

/** The interval in ms at which a holder checks for requests of the lock. */
const POLL_INTERVAL = 250;
/** The interval in ms at which a waiting caller checks whether the lock is free. */
const POLL = 50;
/** The maximum time, in expiries, for which a silent holder is watched, since the watcher may be blocked at times. */
const MAX_DOUBT = 4;

/** The process that has a lock. */
export type LockedBy = Pick<LockHolder, "processId" | "isInThisProcess">;

export interface ProcessLockOptions {
  readonly directory: string;
  /** The name of the lock among several in the folder. Default: the folder's only lock. */
  readonly name?: string;
  /** The locked object, for messages. */
  readonly subject: string;
  /** The interval of heartbeats in ms; after six intervals without one, a holder counts as dead. Default: 5000. */
  readonly heartbeat?: number;
  readonly expiry?: number;
  /** The maximum time in ms that {@linkcode ProcessLock.take} waits for a live holder. Default: 0. */
  readonly waitFor?: number;
  /** Called once when another caller that also has this option waits for the lock: a request to release it. */
  readonly onHandOverRequested?: (() => void) | undefined;
  /** Whether the lock may have no file if the disk is full, since the caller's next step is exclusive by itself. Default: false. */
  readonly mayLackFile?: boolean;
  readonly busy: (holder: LockedBy) => Error;
}

/** The error of a holder whose lock was taken over, or whose file was removed. */
export class LockLostError extends Error {
  constructor(subject: string) {
    super(`Another process has taken over ${subject}, or its lock was removed: try again`);
    this.name = "LockLostError";
  }
}

/**
 * A lock between processes and threads that share a folder: a file with a unique name that identifies its thread.
 *
 * A caller creates its file and then reads the folder; if another live caller has a file, it removes its own. Two
 * callers never get the lock, and one of several simultaneous callers does: a caller is refused only if it sees the
 * other file again after removing its own. Creating and removing a name needs no block of the disk.
 *
 * On Linux, a holder in the same process namespace can be inspected: its lock is valid while its thread runs. Any other
 * holder touches its file at intervals, and counts as dead after a long enough time without that. If it was only
 * blocked, it notices that its file was removed: before it writes, and again before it acknowledges. A holder's file
 * has one byte, which changes at each touch, if the disk has room for it.
 */
export class ProcessLock {
  readonly #options: ProcessLockOptions;
  readonly #prefix: string;
  readonly #key: string;
  #path: string;
  /** The open file of a superuser's lock, since such a process may give up the right to remove it. */
  #file: OpenFile | undefined = undefined;
  readonly #heartbeat: number;
  readonly #expiry: number;
  readonly #waitFor: number;
  #timer: Interval | undefined = undefined;
  #turn: Turn | undefined = undefined;
  #released: AbortController = new AbortController();
  /** The time of the file's last touch, by `performance.now()` and `Date.now()`, and of the last successful one. */
  #beatAt = 0;
  #beatTime = 0;
  #shownAt = 0;
  #beats = 0;
  #isLost = false;
  #isAsked = false;
  #lacksFile = false;

  constructor(options: ProcessLockOptions) {
    this.#options = options;
    this.#prefix = lockPrefix(options.name);
    this.#key = this.#prefix + options.directory;
    this.#path = this.#newPath();
    this.#heartbeat = options.heartbeat ?? 5000;
    this.#expiry = options.expiry ?? 6 * this.#heartbeat;
    this.#waitFor = options.waitFor ?? 0;
  }

  /** Whether the file was removed: with its folder, or by a caller that considered this holder dead. */
  get isLost(): boolean {
    // The process was blocked, or the machine suspended, which stops one of the clocks.
    const age = Math.max(performance.now() - this.#beatAt, Math.abs(Date.now() - this.#beatTime));
    if (!this.#isLost && !this.#lacksFile && age > UNCHECKED * this.#heartbeat) this.#beat();
    return this.#isLost;
  }

  /** @throws {LockLostError} if the lock is lost. */
  requireHeld(): void {
    if (this.isLost) throw new LockLostError(this.#options.subject);
  }

  /**
   * Takes the lock: synchronously, unless it waits for another holder. It waits for a live one for `waitFor` ms, and
   * for one that cannot be inspected until that shows whether it lives. @throws {Error} the result of `busy()` if
   * another caller has the lock.
   */
  take(): Promise<void> | undefined {
    if (this.#released.signal.aborted) this.#released = new AbortController();
    try {
      const watch = new BeatWatch(this.#heartbeat, this.#expiry);
      const isAtOnce = this.#waitFor === 0;
      this.#turn = isAtOnce ? undefined : Turn.takeNow(this.#key);
      if (!isAtOnce && this.#turn === undefined) return this.#wait(watch);
      const blocking = this.#attempt(watch);
      if (blocking === undefined) return undefined;
      if (isAtOnce && held.has(blocking.name)) throw this.#options.busy(blocking);
      return this.#wait(watch, blocking);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Takes the lock again if its file was removed, such as with the folder. @throws {Error} the result of `busy()`. */
  renew(): void {
    this.#beat();
    if (!this.#isLost) return;
    this.#removeFile();
    this.#path = this.#newPath();
    try {
      this.#make();
      const other = this.#blocking(new BeatWatch(this.#heartbeat, this.#expiry));
      this.#isLost = other !== undefined;
      if (other === undefined) return this.#mark();
      this.release();
      throw this.#options.busy(other);
    } catch (error) {
      this.#removeFile();
      throw error;
    }
  }

  /** Releases the lock: removes its file. Never throws. */
  release(): void {
    this.#released.abort();
    this.#timer?.stop();
    this.#removeFile();
    this.#turn?.end();
  }

  async #wait(watch: BeatWatch, found?: LockHolder): Promise<void> {
    const start = performance.now();
    let [at, heldUp] = [start, 0];
    const request = this.#path + HAND_OVER_REQUEST;
    let hasRequest = false;
    const seen = new Set<string>();
    let blocking = found;
    try {
      if (found === undefined) {
        this.#turn = await Turn.take(this.#key, { waitFor: this.#waitFor, signal: this.#released.signal });
        if (this.#turn === undefined) throw this.#options.busy({ processId: process.pid, isInThisProcess: true });
        blocking = this.#attempt(watch);
      }
      for (; blocking !== undefined; blocking = this.#blocking(watch) ?? this.#attempt(watch)) {
        // Another thread of this process may be ending, such as after `terminate()`.
        const mayEnd = blocking.isInThisProcess && !held.has(blocking.name);
        const isDoubtful = blocking.look === "silent" && (mayEnd || blocking.inspect() !== "alive");
        const now = performance.now();
        if (now - at > HELD_UP * this.#heartbeat) heldUp += now - at; // the watch does not count this time either
        at = now;
        const limit = this.#waitFor + (isDoubtful ? MAX_DOUBT * this.#expiry + heldUp : 0);
        const waited = now - start;
        // A holder that is seen again has the lock, or has seen this caller's file without being refused for it.
        if (waited > limit && (seen.has(blocking.path) || waited > limit + this.#expiry)) {
          throw this.#options.busy(blocking);
        }
        seen.add(blocking.path);
        if (this.#options.onHandOverRequested !== undefined && makeIfPossible(request)) hasRequest = true;
        // Callers that refused each other must not retry at the same moment.
        await sleep(Math.min(this.#heartbeat / 4, POLL) * (0.2 + Math.random()));
        if (this.#released.signal.aborted) throw new LockLostError(this.#options.subject);
      }
    } catch (error) {
      this.release();
      throw error;
    } finally {
      if (hasRequest) removeOwn(request);
    }
  }

  /** Creates the file and reads the folder; if that has another holder, removes the file again and returns the holder. */
  #attempt(watch: BeatWatch): LockHolder | undefined {
    try {
      this.#make();
      this.#lacksFile = false;
    } catch (error) {
      this.#lacksFile = this.#options.mayLackFile === true && FULL.includes(codeOf(error));
      if (!this.#lacksFile) throw error;
    }
    const blocking = this.#blocking(watch);
    if (blocking !== undefined) {
      this.#removeFile();
      this.#path = this.#newPath(); // a new name, so that no other caller confuses the two attempts
      return blocking;
    }
    this.#begin();
    // Live waiting callers repeat their requests.
    for (const holder of this.#files()) {
      if (holder.note !== undefined && holder.inspect() !== "alive") removeIfPossible(holder.path);
    }
    return undefined;
  }

  /** Removes the files of dead holders; returns another holder, if there is one. */
  #blocking(watch: BeatWatch): LockHolder | undefined {
    const blocking: LockHolder[] = [];
    for (const holder of this.#files()) {
      if (holder.note !== undefined) continue;
      const state = holder.inspect();
      if (state === "dead") {
        removeIfPossible(holder.path);
        continue;
      }
      holder.look = watch.look(holder);
      if (state === "alive") return holder;
      if (holder.look !== "expired" || !takeOver(holder.path)) blocking.push(holder);
    }
    return blocking[0];
  }

  #make(): void {
    const start = performance.now();
    try {
      this.#create();
    } catch (error) {
      if (!FULL.includes(codeOf(error))) throw error;
      for (const holder of this.#files()) if (holder.inspect() === "dead") removeIfPossible(holder.path);
      this.#create(); // in the space of a dead holder's file
    }
    this.#shownAt = start;
    this.#beatAt = performance.now();
    this.#beatTime = Date.now();
    held.add(basename(this.#path));
  }

  #create(): void {
    const file = failingNow("create", this.#path, () => OpenFile.openNow(this.#path, "wx", { atOnce: true }));
    if (userNumber() === 0) this.#file = file;
    else file.drop(); // even if that fails, the file exists
  }

  #removeFile(): void {
    removeLockFile(this.#path, this.#file);
    this.#file = undefined;
  }

  #begin(): void {
    this.#mark();
    const ms = this.#options.onHandOverRequested === undefined
      ? this.#heartbeat
      : Math.min(this.#heartbeat, POLL_INTERVAL);
    this.#timer = new Interval(ms, () => {
      if (performance.now() - this.#beatAt + ms / 2 > this.#heartbeat) this.#beat();
      this.#lookForRequest();
    }, { keepsAlive: false });
  }

  #beat(): void {
    this.#beatAt = performance.now();
    this.#beatTime = Date.now();
    const now = this.#beatTime / 1000;
    if (this.#lacksFile || this.#isLost) return;
    const path = this.#path;
    try {
      lutimesSync(path, now, now);
      this.#shownAt = this.#beatAt;
      this.#mark();
    } catch {
      const isGone = isAbsent(path);
      const isShown = !isGone && this.#replace();
      const silence = this.#beatAt - this.#shownAt + UNCHECKED * this.#heartbeat; // the time until the next check
      this.#isLost = isGone || !isShown && (silence >= this.#expiry || isAbsent(path));
    }
    this.#isLost ||= existsSync(path + LOST);
  }

  /** Writes the byte of the next heartbeat. Without it, times must suffice, except for clients of network file systems. */
  #mark(): void {
    if (this.#lacksFile) return;
    try {
      withFileNow(this.#path, constants.O_WRONLY, (descriptor, { nlink, size }) => {
        // Only if the file is still a lock file.
        if (nlink <= 1n && size <= 1n) writeSync(descriptor, String(this.#beats++ % 10), 0);
      }, 0);
    } catch {
      // The disk is full, no descriptor is free, another program has locked the file, or the user no longer has the permission.
    }
  }

  /** Recreates the file, for a process that gave up its rights to the former one; returns whether it holds the lock. */
  #replace(): boolean {
    const [former, file] = [this.#path, this.#file];
    [this.#path, this.#file] = [this.#newPath(), undefined];
    try {
      this.#make();
      this.#mark();
      // Watchers always see at least one of the two files.
      if (removeLockFile(former, file) !== "ENOENT") return true;
    } catch {
      // The folder takes no new file now.
    }
    this.#removeFile();
    [this.#path, this.#file] = [former, file];
    return false;
  }

  #lookForRequest(): void {
    const { onHandOverRequested } = this.#options;
    if (onHandOverRequested === undefined || this.#isAsked) return;
    try {
      this.#isAsked = this.#turn?.isWanted ||
        this.#files().some((holder) => holder.note === HAND_OVER_REQUEST && holder.inspect() !== "dead");
    } catch {
      return; // the folder was removed, and the lock with it
    }
    if (this.#isAsked) onHandOverRequested();
  }

  /** Returns the files of the lock, except that of this holder. */
  #files(): LockHolder[] {
    const { directory } = this.#options;
    return readdirSync(directory).flatMap((name) => {
      const holder = LockHolder.of(directory, name, this.#prefix);
      return holder === undefined || holder.path === this.#path ? [] : holder;
    });
  }

  #newPath(): string {
    return join(this.#options.directory, newLockName(this.#prefix));
  }
}
