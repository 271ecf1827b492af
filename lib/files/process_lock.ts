import { constants, existsSync, lutimesSync, readdirSync, writeFileSync, writeSync } from "node:fs";
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
  markReleased,
  newLockName,
  takeOver,
  Turn,
  UNCHECKED,
} from "./lock_holder.ts";
import { OpenFile } from "./open_file.ts";
import { withFileNow } from "./place.ts";
import { removeFileNow, removeIfPossible } from "./rename.ts";

/** The interval at which a holder looks for other callers' requests for the lock, in ms. */
const POLL_INTERVAL = 250;
/** The interval at which a waiter looks whether the lock is free, in ms. */
const POLL = 50;
/** The number of expiries for which a silent holder is watched at most: the watcher may be blocked now and then. */
const MAX_DOUBT = 4;

/** The process that has a lock. */
export type LockedBy = Pick<LockHolder, "processId" | "isInThisProcess">;

export interface ProcessLockOptions {
  readonly directory: string;
  /** Tells several locks of one folder apart. Default: the folder has one. */
  readonly name?: string;
  /** The locked thing, for messages. */
  readonly subject: string;
  /** The ms between touches of the file, and those without that until a holder counts as dead. Default: 5000, and six times that. */
  readonly heartbeat?: number;
  readonly expiry?: number;
  /** The time that {@linkcode ProcessLock.take} waits for a holder that lives, in ms. Default: not at all. */
  readonly waitFor?: number;
  /** Called once when another caller waits for the lock, which asks for it if it has this, too. */
  readonly onHandOverRequested?: (() => void) | undefined;
  /** Whether a full disk may leave it without a file: the caller's next step excludes others by itself. Default: false. */
  readonly mayLackFile?: boolean;
  readonly busy: (holder: LockedBy) => Error;
}

/** The lock of a holder was taken over, or its file removed. */
export class LockLostError extends Error {
  constructor(subject: string) {
    super(`Another process has taken over ${subject}, or its lock was removed: try again`);
    this.name = "LockLostError";
  }
}

/**
 * A lock between processes and threads that share a folder: a file of a unique name that says which thread made it.
 *
 * A caller makes its file and reads the folder then; if another one that lives has a file, it removes its own. Two callers
 * never get the lock, and of those that ask at the same moment one does: a caller is refused only once it has seen a file
 * again after it removed its own. To make and to remove a name needs no block of the disk.
 *
 * A holder is inspected on Linux, in the same process space: its lock is valid while its thread runs. Any other one
 * touches its file now and then, and counts as dead when that does not happen for long enough. If it was only blocked, it
 * sees that its file is gone: before it writes, and again before it acknowledges. The file of a holder has a byte, which
 * changes with each touch, where the disk has room for it.
 */
export class ProcessLock {
  readonly #options: ProcessLockOptions;
  readonly #prefix: string;
  readonly #key: string;
  #path: string;
  /** The open file of a superuser's lock: such a process may give up the right to remove it. */
  #file: OpenFile | undefined = undefined;
  readonly #heartbeat: number;
  readonly #expiry: number;
  readonly #waitFor: number;
  #timer: Interval | undefined = undefined;
  #turn: Turn | undefined = undefined;
  #released: AbortController = new AbortController();
  /** The time of the last touch of the file, of `performance.now()` and of `Date.now()`, and of the last that it took. */
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

  /** Whether the file is gone: with its folder, or by a caller that took this holder for dead. */
  get isLost(): boolean {
    // The process was blocked, or the machine suspended: one clock stands still then.
    const age = Math.max(performance.now() - this.#beatAt, Math.abs(Date.now() - this.#beatTime));
    if (!this.#isLost && !this.#lacksFile && age > UNCHECKED * this.#heartbeat) this.#beat();
    return this.#isLost;
  }

  /** @throws {LockLostError} if the lock is lost. */
  requireHeld(): void {
    if (this.isLost) throw new LockLostError(this.#options.subject);
  }

  /**
   * Takes the lock: at once, unless a holder is waited for. That is one that lives, for `waitFor` ms, and one that cannot
   * be inspected, until it shows whether it lives. @throws {Error} what `busy()` makes if another has it.
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

  /** Takes the lock again if its file was removed, as with the folder. @throws {Error} what `busy()` makes. */
  renew(): void {
    this.#beat();
    if (!this.#isLost) return;
    this.#removeFile();
    this.#path = this.#newPath();
    this.#make();
    this.#isLost = false;
    const other = this.#blocking(new BeatWatch(this.#heartbeat, this.#expiry));
    if (other === undefined) return this.#mark();
    this.release();
    throw this.#options.busy(other);
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
    const seen = new Set<string>();
    let blocking = found;
    try {
      if (found === undefined) {
        this.#turn = await Turn.take(this.#key, { waitFor: this.#waitFor, signal: this.#released.signal });
        if (this.#turn === undefined) throw this.#options.busy({ processId: process.pid, isInThisProcess: true });
        blocking = this.#attempt(watch);
      }
      for (; blocking !== undefined; blocking = this.#blocking(watch) ?? this.#attempt(watch)) {
        // Another thread of this process may be about to end, as after `terminate()`.
        const mayEnd = blocking.isInThisProcess && !held.has(blocking.name);
        const isDoubtful = blocking.look === "silent" && (mayEnd || blocking.inspect() !== "alive");
        const now = performance.now();
        if (now - at > HELD_UP * this.#heartbeat) heldUp += now - at; // nor does the watch count it
        at = now;
        const limit = this.#waitFor + (isDoubtful ? MAX_DOUBT * this.#expiry + heldUp : 0);
        const waited = now - start;
        // One that is seen again holds the lock, or it has seen this caller's file, and not been refused for it.
        if (waited > limit && (seen.has(blocking.path) || waited > limit + this.#expiry)) {
          throw this.#options.busy(blocking);
        }
        seen.add(blocking.path);
        if (this.#options.onHandOverRequested !== undefined) makeIfPossible(request);
        // Those that refused each other must not ask at the same moment again.
        await sleep(Math.min(this.#heartbeat / 4, POLL) * (0.2 + Math.random()));
        if (this.#released.signal.aborted) throw new LockLostError(this.#options.subject);
      }
    } catch (error) {
      this.release();
      throw error;
    } finally {
      removeIfPossible(request);
    }
  }

  /** Makes the file and reads the folder; returns a holder for which the file was removed again, if there is one. */
  #attempt(watch: BeatWatch): LockHolder | undefined {
    this.#makeUnlessFull();
    const blocking = this.#blocking(watch);
    if (blocking !== undefined) {
      this.#removeFile();
      this.#path = this.#newPath(); // so that no other caller takes two attempts for one
      return blocking;
    }
    this.#begin();
    // Waiters that live make their requests again.
    for (const holder of this.#files()) {
      if (holder.note !== undefined && holder.inspect() !== "alive") removeIfPossible(holder.path);
    }
    return undefined;
  }

  /** Removes what dead holders left; returns another one, if there is one. */
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

  #makeUnlessFull(): void {
    try {
      this.#make();
      this.#lacksFile = false;
    } catch (error) {
      this.#lacksFile = this.#options.mayLackFile === true && FULL.includes(codeOf(error));
      if (!this.#lacksFile) throw error;
    }
  }

  #make(): void {
    const start = performance.now();
    try {
      this.#create();
    } catch (error) {
      if (!FULL.includes(codeOf(error))) throw error;
      for (const holder of this.#files()) if (holder.inspect() === "dead") removeIfPossible(holder.path);
      this.#create(); // in the room of a dead holder's
    }
    this.#shownAt = start;
    this.#beatAt = performance.now();
    this.#beatTime = Date.now();
    held.add(basename(this.#path));
  }

  #create(): void {
    failingNow("create", this.#path, () => {
      if (userNumber() === 0) this.#file = OpenFile.openNow(this.#path, "wx", { atOnce: true });
      else writeFileSync(this.#path, "", { flag: "wx" });
    });
  }

  #removeFile(): void {
    held.delete(basename(this.#path));
    removeIfPossible(this.#path);
    if (existsSync(this.#path)) markReleased(this.#path, this.#file);
    void this.#file?.close();
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
    if (this.#lacksFile) return;
    const path = this.#path;
    try {
      lutimesSync(path, now, now);
      this.#shownAt = this.#beatAt;
      this.#mark();
    } catch {
      const isShown = existsSync(path) && this.#replace();
      const silence = this.#beatAt - this.#shownAt + UNCHECKED * this.#heartbeat; // until the next look
      this.#isLost ||= !isShown && (silence >= this.#expiry || !existsSync(path));
    }
    this.#isLost ||= existsSync(path + LOST);
  }

  /** Writes the byte of the next beat. Without it the time shows that, but for clients of network file systems. */
  #mark(): void {
    if (this.#lacksFile) return;
    try {
      withFileNow(this.#path, constants.O_WRONLY, (descriptor, { nlink, size }) => {
        if (nlink <= 1n && size <= 1n) writeSync(descriptor, String(this.#beats++ % 10), 0); // it is no other file
      });
    } catch {
      // The disk is full, no descriptor is free, or the user has no right to it any more.
    }
  }

  /** Makes the file anew, for a process that gave up its rights to the former one; returns whether it holds that. */
  #replace(): boolean {
    const [former, file] = [this.#path, this.#file];
    this.#path = this.#newPath();
    try {
      this.#make();
      this.#mark();
      held.delete(basename(former));
      removeFileNow(former); // no watcher sees the folder without both
    } catch (error) {
      if (!held.has(basename(this.#path)) || codeOf(error) === "ENOENT") {
        removeIfPossible(this.#path);
        held.delete(basename(this.#path));
        if (this.#file !== file) void this.#file?.close();
        [this.#path, this.#file] = [former, file];
        return false;
      }
      markReleased(former, file);
    }
    void file?.close();
    return true;
  }

  #lookForRequest(): void {
    const { onHandOverRequested } = this.#options;
    if (onHandOverRequested === undefined || this.#isAsked) return;
    try {
      this.#isAsked = this.#turn?.isWanted ||
        this.#files().some((holder) => holder.note === HAND_OVER_REQUEST && holder.inspect() !== "dead");
    } catch {
      return; // the folder is gone, and the lock with it
    }
    if (this.#isAsked) onHandOverRequested();
  }

  /** The files of the lock, but for the one of this holder. */
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
