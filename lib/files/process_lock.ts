import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { isPermitted, isProcessAlive } from "../runtime/mod.ts";
import { fileFailure } from "./failure.ts";
import { processSpace } from "./temporary.ts";

/** The identity of a thread of which the system tells nothing. */
const UNKNOWN = "0.0";

let own: string | undefined;

/** The identity of this thread: its number in the system, and when it was started; "0.0" where only Linux could tell. */
export function ownThread(): string {
  own ??= describeOwn();
  return own;
}

function describeOwn(): string {
  if (process.platform !== "linux" || !isPermitted("systemFiles")) return UNKNOWN;
  try {
    const [id] = /\d+$/.exec(readlinkSync("/proc/thread-self"))!;
    return `${id}.${startOf(process.pid, id)!}`;
  } catch {
    return UNKNOWN;
  }
}

/** Whether a thread of a process runs, by its identity; undefined if nobody can tell. */
export function isThreadAlive(processId: number, thread: string): boolean | undefined {
  if (thread === UNKNOWN || ownThread() === UNKNOWN) return undefined;
  const [id, start] = thread.split(".");
  try {
    // A folder that is not there may be hidden: those of other users are on some systems.
    return existsSync(`/proc/${processId}/task`) ? startOf(processId, id) === start : undefined;
  } catch (error) {
    return ["ENOENT", "ESRCH"].includes((error as { code: string }).code) ? false : undefined;
  }
}

/** When a thread was started, in the system's own unit; undefined if it has ended, and nobody has asked how. */
function startOf(processId: number, id: string): string | undefined {
  const status = readFileSync(`/proc/${processId}/task/${id}/stat`, "latin1");
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" "); // from the third one on
  return /[ZXx]/.test(fields[0]) ? undefined : fields[19];
}

/** How often the holder of a lock gives a sign of life, in ms. */
const BEAT = 750;
/** After how long without one a holder counts as gone whose thread cannot be asked for, in ms. */
const PATIENCE = 4 * BEAT;

/** The names of locks, behind the prefix: the space of processes, the process, its thread, and a random number. */
const NAME = /^([0-9a-f]{8})\.(\d+)\.(\d+\.\d+)-[0-9a-f]{8}$/;

/** The paths of the locks that streams of this thread have. */
const held: Set<string> = new Set();

/** Another stream that has the same series. */
interface Holder {
  readonly path: string;
  readonly process: number;
  /** Whether it is alive; undefined if only its signs of life can tell. */
  readonly isAlive: boolean | undefined;
  /** Whether its thread runs; undefined if nobody can tell. */
  hasThread(): boolean | undefined;
}

/**
 * The right to write a series: a file beside it whose name tells the thread, one for each stream that wants it. No two
 * streams get it, but both may be refused if they ask at the same moment.
 *
 * It is its holder's while the holder's thread lives, where that can be asked: on Linux, in the same container. Anywhere
 * else it is the holder's while that gives signs of life; a holder that was blocked for too long finds out before it
 * writes, and again before it acknowledges.
 */
export class SeriesLock {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #series: string;
  readonly #path: string;
  #beats: ReturnType<typeof setInterval> | undefined = undefined;
  /** When the last sign of life was given, in ms as of performance.now(). */
  #beatAt = 0;
  #isLost = false;

  /** @param prefix The names of the locks of the series begin with it. */
  constructor(directory: string, prefix: string, series: string) {
    this.#directory = directory;
    this.#prefix = prefix;
    this.#series = series;
    const id = crypto.randomUUID().slice(0, 8);
    this.#path = join(directory, `${prefix}${processSpace()}.${process.pid}.${ownThread()}-${id}`);
  }

  /** Whether the lock's file is gone: with its folder, or to a stream that took this one for dead. */
  get isLost(): boolean {
    if (!this.#isLost && performance.now() - this.#beatAt > PATIENCE) this.#beat(); // the process was blocked
    return this.#isLost;
  }

  /**
   * Takes the lock: at once, unless another machine or container has left a lock, whose signs of life are waited for.
   *
   * @throws {Error} with the code `EBUSY` if another stream has it.
   */
  take(): Promise<void> | undefined {
    this.#make();
    this.#beats = setInterval(() => this.#beat(), BEAT).unref(); // while it waits, too: another may be watching
    const doubtful = this.#doubtful();
    return doubtful.length > 0 ? this.#watch(doubtful) : undefined;
  }

  /** Takes the lock again if its file was removed, as with the folder. */
  renew(): void {
    this.#isLost = false;
    if (lastBeat(this.#path) !== undefined) return;
    this.#make();
    const [other] = this.#doubtful();
    if (other !== undefined) this.#refuse(other);
  }

  /** @throws {Error} with the code `EBUSY`: it is not known yet whether another stream has the lock. */
  refuseUntilTaken(): never {
    const reason = `it is not known yet whether another process writes the series ${this.#series}`;
    throw Object.assign(new Error(`Cannot write to ${this.#directory}: ${reason}`), { code: "EBUSY" });
  }

  /** Releases the lock. */
  release(): void {
    clearInterval(this.#beats);
    rmSync(this.#path, { force: true });
    held.delete(this.#path);
  }

  #beat(): void {
    const now = Date.now() / 1000;
    this.#beatAt = performance.now();
    try {
      utimesSync(this.#path, now, now);
    } catch {
      this.#isLost = true;
    }
  }

  /** Removes what dead holders left; returns those of which nobody knows yet. */
  #doubtful(): Holder[] {
    const others = this.#others();
    const alive = others.find(({ isAlive }) => isAlive === true);
    if (alive !== undefined) this.#refuse(alive);
    for (const { path, isAlive } of others) if (isAlive === false) rmSync(path, { force: true });
    return others.filter(({ isAlive }) => isAlive === undefined);
  }

  #make(): void {
    try {
      writeFileSync(this.#path, "", { flag: "wx" });
    } catch (error) {
      throw fileFailure("create", this.#path, error);
    }
    this.#beatAt = performance.now();
    held.add(this.#path);
  }

  #others(): Holder[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const path = join(this.#directory, name);
      if (!name.startsWith(this.#prefix) || path === this.#path) return [];
      const [, space, digits, thread] = NAME.exec(name.slice(this.#prefix.length)) ?? [];
      if (thread === undefined) return [];
      const id = Number(digits);
      if (space !== processSpace()) return { path, process: id, isAlive: undefined, hasThread: () => undefined };
      // Of this thread it is a lock of another copy of this module: that may have dropped its stream.
      const hasThread = () => thread === ownThread() ? undefined : isThreadAlive(id, thread);
      return { path, process: id, isAlive: held.has(path) || isHolderAlive(id, hasThread()), hasThread };
    });
  }

  /** Waits until the holders have given no sign of life for long enough. */
  async #watch(holders: readonly Holder[]): Promise<void> {
    const first = holders.map(({ path }) => lastBeat(path));
    const start = performance.now();
    while (performance.now() - start < PATIENCE) {
      await new Promise((resolve) => setTimeout(resolve, BEAT / 4));
      const alive = holders.find(({ path }, i) => ![undefined, first[i]].includes(lastBeat(path)));
      if (alive !== undefined) this.#refuse(alive);
      if (holders.every(({ path, hasThread }) => lastBeat(path) === undefined || hasThread() === false)) break;
    }
    const blocked = holders.find(({ path, hasThread }) => hasThread() && lastBeat(path) !== undefined);
    if (blocked !== undefined) this.#refuse(blocked);
    for (const { path } of holders) rmSync(path, { force: true });
    const [other] = this.#doubtful(); // that has watched them, too
    if (other !== undefined) this.#refuse(other);
  }

  #refuse(holder: Holder): never {
    this.release();
    const who = holder.process === process.pid ? "another stream of this process" : `the process ${holder.process}`;
    const wayOut = "close that one first, or write another series: pass another name or directory";
    const message = `Cannot write to ${this.#directory}: ${who} writes the series ${this.#series}: ${wayOut}`;
    throw Object.assign(new Error(message), { code: "EBUSY" });
  }
}

/** Whether a holder in this process space is alive; undefined if that has to be waited for. */
function isHolderAlive(id: number, hasThread: boolean | undefined): boolean | undefined {
  if (isProcessAlive(id) === false) return false;
  return id === process.pid && hasThread ? undefined : hasThread; // a thread that is being terminated ends soon
}

function lastBeat(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
