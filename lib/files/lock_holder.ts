import { type BigIntStats, constants, existsSync, ftruncateSync, lstatSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { TimeLimit } from "../timers/mod.ts";
import { foldedName, LOCK_IDENTITY } from "./names.ts";
import { OpenFile } from "./open_file.ts";
import { isThreadAlive, pidNamespace, threadIdentity } from "./process_identity.ts";
import { isAbsent, removeIfPossible, removeOwn, withFileNow } from "./rename.ts";

const identity = RegExp(`^${LOCK_IDENTITY}`);

/** The suffix of files that request the lock from its holder. */
export const HAND_OVER_REQUEST = "-wanted";
/** The suffix of files that inform a holder that another one has its lock. */
export const LOST = "-lost";

const MARK = "millrace-lock-";

export function lockPrefix(name?: string): string {
  return name === undefined ? `.${MARK}` : `.${name}.${MARK}`;
}

/** Returns a unique name for a lock file of this thread. */
export function newLockName(prefix: string): string {
  return `${prefix}${pidNamespace()}.${process.pid}.${threadIdentity()}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Returns a set of lock file names that all copies of this module in the thread share, so that no two files have one name. */
function sharedNames(what: string): Set<string> {
  const copies = globalThis as { [key: symbol]: Set<string> | undefined };
  return copies[Symbol.for(`@millrace/streams.${what}Locks`)] ??= new Set();
}

/** The names of the locks held by this thread. */
export const held: Set<string> = /* @__PURE__ */ sharedNames("held");
/** The names of released locks whose files this thread could not remove. */
export const released: Set<string> = /* @__PURE__ */ sharedNames("released");

/** The time of a lock file's last touch in ms since 1970, and the byte that its holder writes; 0 without one. */
type Beat = Readonly<{ time: number; mark: number }>;

/** The size in bytes of a released lock's file that its holder could not remove: heartbeats write only one byte. */
export const RELEASED = 2;

/** A lock file, or a file with a note about a lock, and the thread of the lock. */
export class LockHolder {
  readonly path: string;
  readonly name: string;
  readonly processId: number;
  /** The suffix of a note's name; undefined for a lock. */
  readonly note: string | undefined;
  /** The result of the last check of its heartbeats: a second check at the same moment could differ. */
  look: ReturnType<BeatWatch["look"]> | undefined = undefined;
  readonly #space: string;
  readonly #thread: string | undefined;

  private constructor(directory: string, name: string, [, space, id, thread, note]: RegExpExecArray) {
    this.path = join(directory, name);
    this.name = name;
    this.processId = Number(id);
    this.note = note;
    this.#space = space;
    this.#thread = thread;
  }

  /** Returns the holder that a file's name identifies, in any case if the file system ignores case; undefined for other files. */
  static of(directory: string, name: string, prefix: string): LockHolder | undefined {
    // The prefix's length cannot be used: a letter may be two characters in another case.
    const end = name.lastIndexOf(MARK) + MARK.length;
    const found = identity.exec(name.slice(end));
    const isOwn = found !== null && foldedName(name.slice(0, end)) === foldedName(prefix) &&
      (name.startsWith(prefix) || !isAbsent(join(directory, prefix + found[0])));
    return isOwn ? new LockHolder(directory, name, found) : undefined;
  }

  /** Whether the holder is in this process, in any of its threads. */
  get isInThisProcess(): boolean {
    return this.#space === pidNamespace() && this.processId === process.pid;
  }

  /** Whether the thread runs; "unknown" if only the file's heartbeats can show that. */
  inspect(): "alive" | "dead" | "unknown" {
    if (this.note === LOST) return isAbsent(this.path.slice(0, -LOST.length)) ? "dead" : "alive";
    if (held.has(this.name)) return "alive";
    if (released.has(this.name) || (lstatSync(this.path, { throwIfNoEntry: false })?.size ?? 0) >= RELEASED) {
      return "dead";
    }
    if (this.#space !== pidNamespace()) return existsSync(this.path + LOST) ? "dead" : "unknown";
    // In this thread it is a lock of another copy of this module, which may have dropped it.
    const isAlive = isThreadAlive(this.processId, this.#thread === threadIdentity() ? undefined : this.#thread);
    return isAlive === undefined ? "unknown" : isAlive ? "alive" : "dead";
  }

  /**
   * Returns the last heartbeat of the file; undefined if it was removed. Clients of network file systems cache times
   * for up to a minute, but read the content at each opening.
   */
  get beat(): Beat | undefined {
    const bytes = new Uint8Array(1);
    try {
      withFileNow(this.path, constants.O_RDONLY, (descriptor) => readSync(descriptor, bytes, 0, 1, 0));
    } catch {
      // The file is another user's, or no descriptor is free: only its time is compared.
    }
    const status = lstatSync(this.path, { throwIfNoEntry: false });
    return status && { time: status.mtimeMs, mark: bytes[0] };
  }
}

/** Creates an empty file, unless it exists or the disk is full; returns whether it did. */
export function makeIfPossible(path: string): boolean {
  try {
    OpenFile.openNow(path, "wx", { atOnce: true }).drop();
    return true;
  } catch {
    return false;
  }
}

/** Removes the file of an expired holder or, if only its user may do so, leaves a note of the loss; returns whether that succeeded. */
export function takeOver(path: string): boolean {
  removeIfPossible(path);
  if (isAbsent(path)) return true;
  makeIfPossible(path + LOST);
  return existsSync(path + LOST);
}

/**
 * Removes the file of a lock that is released. If that fails, the file is removed later, and marked for other processes
 * by its size, which needs no disk space. Returns the code of the failure.
 *
 * @param file The open file, if the process may have given up the right to open it.
 */
export function removeLockFile(path: string, file: OpenFile | undefined): string | undefined {
  const name = basename(path);
  if (!held.delete(name)) return void removeIfPossible(path); // it may not have been created
  const code = removeOwn(path, () => {
    released.add(name);
    try {
      if (file?.isClosed === false) file.truncate(RELEASED, path);
      else withFileNow(path, constants.O_WRONLY, markReleased);
    } catch {
      // The file keeps looking like that of a live holder until it can be removed.
    }
  });
  file?.drop();
  return code;
}

function markReleased(descriptor: number, { nlink, size }: BigIntStats): void {
  if (nlink <= 1n && size < RELEASED) ftruncateSync(descriptor, RELEASED);
}

/** The number of heartbeats between two checks that shows a delay of the watcher itself. */
export const HELD_UP = 2;

/** The observation of lock files whose holders cannot be inspected. */
export class BeatWatch {
  readonly #heartbeat: number;
  readonly #expiry: number;
  readonly #seen = new Map<string, Beat & { readonly isAnother: boolean; since: number; at: number }>();

  constructor(heartbeat: number, expiry: number) {
    this.#heartbeat = heartbeat;
    this.#expiry = expiry;
  }

  /**
   * Checks a file again: "expired" if its holder is dead or has released it, "beating" if it was touched since the
   * first check, "silent" while that is unknown.
   *
   * Clocks may differ, jump, or stand still with a machine. So an old file expires only after no heartbeat was observed
   * for longer than a holder writes without checking its file. Time in which the watcher itself is blocked does not
   * count.
   */
  look({ path, beat }: LockHolder): "beating" | "silent" | "expired" {
    if (beat === undefined) return "expired";
    const now = performance.now();
    const seen = this.#seen.get(path);
    if (seen === undefined || seen.time !== beat.time || seen.mark !== beat.mark) {
      this.#seen.set(path, { ...beat, isAnother: seen !== undefined, since: now, at: now });
      return seen === undefined ? "silent" : "beating";
    }
    if (now - seen.at > HELD_UP * this.#heartbeat) seen.since += now - seen.at;
    seen.at = now;
    const silence = now - seen.since;
    const looksOld = Date.now() - beat.time >= this.#expiry;
    if (silence >= this.#expiry || looksOld && silence >= UNSEEN * this.#heartbeat) return "expired";
    return seen.isAnother ? "beating" : "silent";
  }
}

/** The number of heartbeats without one after which a holder checks whether it still has its lock. */
export const UNCHECKED = 1.25;
/** The minimum number of heartbeats for which a file is watched before it expires. */
const UNSEEN = 1.5;

/** The turns of this thread by key, in the order of requests: the first one has begun. */
const queues = new Map<string, Turn[]>();

/** A turn in the use of a resource, such as a folder, by the callers of this thread. */
export class Turn {
  readonly #key: string;
  readonly #begun = Promise.withResolvers<void>();

  private constructor(key: string) {
    this.#key = key;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [this]);
    else queue.push(this);
  }

  /** Takes a turn, unless another caller has it. */
  static takeNow(key: string): Turn | undefined {
    return queues.has(key) ? undefined : new Turn(key);
  }

  /**
   * Takes a turn after all earlier requests.
   *
   * @param options.waitFor The maximum time in ms for the turns before it. Default: Infinity.
   * @returns undefined if they took longer.
   * @throws {unknown} the reason of the signal once it is aborted.
   */
  static async take(
    key: string,
    { waitFor = Infinity, signal }: { readonly waitFor?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Turn | undefined> {
    signal?.throwIfAborted();
    const turn = new Turn(key);
    if (queues.get(key)![0] === turn) return turn;
    const limit = new TimeLimit(waitFor, signal);
    const hasBegun = await limit.within(turn.#begun.promise).then(() => true, () => false);
    limit.stop();
    if (hasBegun && !signal?.aborted) return turn;
    turn.end();
    signal?.throwIfAborted();
    return undefined;
  }

  /** Whether another caller waits for the end of the turn. */
  get isWanted(): boolean {
    return queues.get(this.#key)?.at(-1) !== this;
  }

  /** Ends the turn; the next one begins. */
  end(): void {
    const queue = queues.get(this.#key);
    const index = queue?.indexOf(this) ?? -1;
    if (index === -1) return;
    queue!.splice(index, 1);
    if (queue!.length === 0) queues.delete(this.#key);
    else if (index === 0) queue![0].#begun.resolve();
  }
}
