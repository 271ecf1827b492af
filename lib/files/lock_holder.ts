import { constants, existsSync, lstatSync, readSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { TimeLimit } from "../timers/mod.ts";
import { foldedName, LOCK_IDENTITY } from "./names.ts";
import type { OpenFile } from "./open_file.ts";
import { withFileNow } from "./place.ts";
import { isThreadAlive, pidNamespace, threadIdentity } from "./process_identity.ts";
import { removeIfPossible } from "./rename.ts";

const identity = RegExp(`^${LOCK_IDENTITY}`);

/** The end of the names of files that ask a holder to hand over. */
export const HAND_OVER_REQUEST = "-wanted";
/** The end of the names of files that tell a holder that another one has its lock. */
export const LOST = "-lost";

const MARK = "millrace-lock-";

export function lockPrefix(name?: string): string {
  return name === undefined ? `.${MARK}` : `.${name}.${MARK}`;
}

/** Returns a name for a lock file of this thread, which no other file has. */
export function newLockName(prefix: string): string {
  return `${prefix}${pidNamespace()}.${process.pid}.${threadIdentity()}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Returns a set of names of lock files that all copies of this module in the thread share: no two files have one name. */
function sharedNames(what: string): Set<string> {
  const copies = globalThis as { [key: symbol]: Set<string> | undefined };
  return copies[Symbol.for(`@millrace/streams.${what}Locks`)] ??= new Set();
}

/** The names of the locks that this thread holds. */
export const held: Set<string> = /* @__PURE__ */ sharedNames("held");
/** The names of locks that this thread has released, whose files its user may no longer remove. */
export const released: Set<string> = /* @__PURE__ */ sharedNames("released");

/** The time of a lock file's last touch, in ms since 1970, and its byte, which a holder writes; 0 without one. */
type Beat = Readonly<{ time: number; mark: number }>;

/** The size of a released lock's file that its holder could not remove, in bytes: beats make it one byte long. */
export const RELEASED = 2;

/** A lock file, or one that says something of a lock, and the thread that has that. */
export class LockHolder {
  readonly path: string;
  readonly name: string;
  readonly processId: number;
  /** The end of its name, of a file that is no lock. */
  readonly note: string | undefined;
  /** The result of the last look at its beats: a second one of the same moment could differ. */
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

  /** The holder that a file names, also in another case where the file system ignores that; undefined if it is no file of the lock. */
  static of(directory: string, name: string, prefix: string): LockHolder | undefined {
    const end = name.lastIndexOf(MARK) + MARK.length; // not that of the prefix: a letter may be of two characters
    const found = identity.exec(name.slice(end));
    const isOwn = found !== null && foldedName(name.slice(0, end)) === foldedName(prefix) &&
      (name.startsWith(prefix) || existsSync(join(directory, prefix + found[0])));
    return isOwn ? new LockHolder(directory, name, found) : undefined;
  }

  /** Whether the holder is of this process, be it of another of its threads. */
  get isInThisProcess(): boolean {
    return this.#space === pidNamespace() && this.processId === process.pid;
  }

  /** Whether the thread runs; "unknown" if only the beats of the file can show that. */
  inspect(): "alive" | "dead" | "unknown" {
    if (this.note === LOST) return existsSync(this.path.slice(0, -LOST.length)) ? "alive" : "dead";
    if (held.has(this.name)) return "alive";
    if (released.has(this.name) || (lstatSync(this.path, { throwIfNoEntry: false })?.size ?? 0) >= RELEASED) {
      return "dead";
    }
    if (this.#space !== pidNamespace()) return existsSync(this.path + LOST) ? "dead" : "unknown";
    // Of this thread it is a lock of another copy of this module: that may have dropped it.
    const isAlive = isThreadAlive(this.processId, this.#thread === threadIdentity() ? undefined : this.#thread);
    return isAlive === undefined ? "unknown" : isAlive ? "alive" : "dead";
  }

  /**
   * The last beat of the file; undefined if it is gone. Clients of network file systems keep times of files for up to a
   * minute, but ask for the content at each opening.
   */
  get beat(): Beat | undefined {
    const bytes = new Uint8Array(1);
    try {
      withFileNow(this.path, constants.O_RDONLY, (descriptor) => readSync(descriptor, bytes, 0, 1, 0));
    } catch {
      // The file is another user's, or no descriptor is free: times show more than nothing.
    }
    const status = lstatSync(this.path, { throwIfNoEntry: false });
    return status && { time: status.mtimeMs, mark: bytes[0] };
  }
}

/** Makes an empty file, unless it is there, or there is no room for it. */
export function makeIfPossible(path: string): void {
  try {
    writeFileSync(path, "", { flag: "wx" });
  } catch {
    // A lock is waited for all the same.
  }
}

/** Removes the file of an expired holder, or, where only its user may, tells it of the loss; returns whether it could. */
export function takeOver(path: string): boolean {
  removeIfPossible(path);
  if (!existsSync(path)) return true;
  makeIfPossible(path + LOST);
  return existsSync(path + LOST);
}

/** Marks a file that its user may no longer remove: by its size, which takes no room on the disk, for other processes. */
export function markReleased(path: string, file: OpenFile | undefined): void {
  released.add(basename(path));
  try {
    file?.truncate(RELEASED, path);
  } catch {
    // It stays as that of a holder that lives as long as the process.
  }
}

/** The number of heartbeats between two looks from which on the watcher was held up itself. */
export const HELD_UP = 2;

/** Observation of lock files whose holders cannot be inspected. */
export class BeatWatch {
  readonly #heartbeat: number;
  readonly #expiry: number;
  readonly #seen = new Map<string, Beat & { readonly isAnother: boolean; since: number; at: number }>();

  constructor(heartbeat: number, expiry: number) {
    this.#heartbeat = heartbeat;
    this.#expiry = expiry;
  }

  /**
   * Looks at a file once more: "expired" if its holder is dead or has released it, "beating" if it was touched since the
   * first look, "silent" while that is not known.
   *
   * Clocks may differ, jump and stand still with a machine: a file that looks old expires only once no beat was seen for
   * longer than a holder writes without a look at its file. What passes while the watcher is blocked itself does not count.
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

/** After how many heartbeats without one a holder looks whether it still has its lock. */
export const UNCHECKED = 1.25;
/** The number of heartbeats for which a file is watched at least before it expires. */
const UNSEEN = 1.5;

/** The turns of this thread by key, in the order of their requests: the first one has begun. */
const queues = new Map<string, Turn[]>();

/** A turn among the callers of this thread that use one thing, such as a folder, one after another. */
export class Turn {
  readonly #key: string;
  readonly #begun = Promise.withResolvers<void>();

  private constructor(key: string) {
    this.#key = key;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [this]);
    else queue.push(this);
  }

  /** Takes a turn, unless another has it. */
  static takeNow(key: string): Turn | undefined {
    return queues.has(key) ? undefined : new Turn(key);
  }

  /**
   * Takes a turn behind all earlier requests.
   *
   * @param options.waitFor How long the turns before it may take, in ms. Default: as long as they take.
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

  /** Whether another waits for the end of the turn. */
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
