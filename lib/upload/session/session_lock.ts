import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { processSpace } from "../../files/internal.ts";
import { isProcessAlive } from "../../runtime/mod.ts";
import { SessionBusyError } from "./session_storage.ts";

/** Names of locks: a generation, and `.free` once its holder has let go. */
const LOCK = /^lock\.(\d+)(\.free)?$/;
/** The file that asks the holder to let go. */
const WANTED = "wanted";
/** How often a holder sees whether it is asked, and how often others see whether it let go, in ms. */
const LOOK = 250;
/** How long a holder that lives has to let go, in ms. */
const PATIENCE = 10_000;
/** How often a holder shows processes that cannot see it that it lives, in ms. */
const SIGN = 5000;
/** A holder that shows no sign for so long, and cannot be seen, is dead, in ms. */
const SILENCE = 30_000;
/** The file system's clock may be behind the process's by a tick, in ms. */
const TICK = 1000;

/**
 * A lock of a folder among processes. Each holder makes a file of a higher number than the last: nobody ever takes away
 * what another may hold, and who has the highest number holds the lock.
 */
export class SessionLock {
  readonly #folder: string;
  readonly #generation: number;
  readonly #timer: ReturnType<typeof setInterval>;
  #sign: number = performance.now();
  #isHeld = true;

  private constructor(folder: string, generation: number, onWanted: () => void) {
    this.#folder = folder;
    this.#generation = generation;
    let isTold = false;
    this.#timer = setInterval(() => {
      this.#show();
      if (isTold || !existsSync(join(folder, WANTED))) return;
      isTold = true;
      onWanted();
    }, LOOK);
    this.#timer.unref?.();
  }

  /**
   * Takes the lock of a folder, from a dead holder at once, from one that lives when it lets go.
   *
   * @param onWanted Called once when another process asks for it.
   * @returns undefined if there is no such folder.
   * @throws {SessionBusyError} if the holder does not let go in time.
   */
  static async take(folder: string, onWanted: () => void): Promise<SessionLock | undefined> {
    const end = performance.now() + PATIENCE;
    for (;;) {
      const last = lastLock(folder);
      if (last === undefined) return undefined;
      if (last.isFree || isDead(join(folder, nameOf(last.generation)))) {
        const generation = last.generation + 1;
        const made = tryToMake(folder, generation);
        if (made === undefined) return undefined;
        if (made) {
          clear(folder, generation);
          return new SessionLock(folder, generation, onWanted);
        }
      } else {
        if (performance.now() > end) throw new SessionBusyError();
        touch(join(folder, WANTED));
        await new Promise((resolve) => setTimeout(resolve, LOOK / 5));
      }
    }
  }

  /**
   * Sees that the lock is still held: it may not be, if the process was asleep for long.
   *
   * @throws {SessionBusyError} if another has it.
   */
  require(): void {
    if (performance.now() - this.#sign < SILENCE / 2) return;
    if (lastLock(this.#folder)?.generation !== this.#generation) throw new SessionBusyError();
    this.#show();
  }

  /** Releases the lock. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    clearInterval(this.#timer);
    const path = join(this.#folder, nameOf(this.#generation));
    try {
      renameSync(path, `${path}.free`);
    } catch {
      // The folder was removed, or another has the lock.
    }
  }

  /** Shows those who cannot see this process that it lives. */
  #show(): void {
    if (performance.now() - this.#sign < SIGN) return;
    this.#sign = performance.now();
    try {
      const now = Date.now() / 1000;
      utimesSync(join(this.#folder, nameOf(this.#generation)), now, now);
    } catch {
      // The next call of require() tells.
    }
  }
}

/** Whether a name in the folder of a session is one of its lock's. */
export function isLockName(name: string): boolean {
  return LOCK.test(name) || name === WANTED;
}

function nameOf(generation: number): string {
  return `lock.${generation}`;
}

/** The lock of the highest number; undefined if there is no such folder. */
function lastLock(folder: string): { readonly generation: number; readonly isFree: boolean } | undefined {
  const names = namesIn(folder);
  let last = { generation: 0, isFree: true };
  for (const name of names ?? []) {
    const [, digits, free] = LOCK.exec(name) ?? [];
    const generation = Number(digits ?? 0);
    if (generation > last.generation) last = { generation, isFree: free !== undefined };
  }
  return names && last;
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Makes the lock of a number, unless somebody else has made it or a higher one; undefined if the folder is gone. */
function tryToMake(folder: string, generation: number): boolean | undefined {
  const path = join(folder, nameOf(generation));
  let made = false;
  try {
    const file = openSync(path, "wx");
    made = true;
    try {
      writeSync(file, JSON.stringify({ space: processSpace(), pid: process.pid }));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    if ((error as { code?: unknown }).code === "EEXIST") return false;
    // Without room for what says who has it, it would be nobody's and in the way.
    if (made) remove(path);
    throw error;
  }
  // Who saw the folder long ago may have made a number that is past.
  if (lastLock(folder)?.generation === generation) return true;
  remove(path);
  return false;
}

/** Removes locks before a number, and what asked for one. */
function clear(folder: string, generation: number): void {
  for (const name of namesIn(folder) ?? []) {
    const [, digits] = LOCK.exec(name) ?? [];
    if (name === WANTED || Number(digits ?? generation) < generation) remove(join(folder, name));
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Whether the process that made a lock is dead, as far as can be told. */
function isDead(path: string): boolean {
  try {
    const text = readFileSync(path, "utf8");
    const age = Date.now() - statSync(path).mtimeMs;
    const { space, pid } = ownerIn(text);
    // Killed before it had written who it is. One that was only asleep sees that the lock is another's.
    if (pid === undefined) return age > TICK;
    if (space === processSpace()) {
      if (isProcessAlive(pid) === false) return true;
      // In a container, this process often has the id of the one before.
      if (pid === process.pid && age > process.uptime() * 1000 + TICK) return true;
    }
    return age > SILENCE;
  } catch (error) {
    if (isMissing(error)) return false; // it was let go of: look again
    throw error;
  }
}

/** The process that a lock names; nothing if it is cut. */
function ownerIn(text: string): { readonly space?: string; readonly pid?: number } {
  try {
    return JSON.parse(text) as { space?: string; pid?: number };
  } catch {
    return {};
  }
}

function touch(path: string): void {
  try {
    closeSync(openSync(path, "a"));
  } catch (error) {
    if (!isMissing(error)) throw error; // the session was removed
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ENOENT";
}
