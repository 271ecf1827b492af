import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { isProcessAlive } from "../../runtime/mod.ts";
import { fileFailure } from "../failure.ts";
import { processSpace } from "../process_space.ts";

/** How often the holder of a lock gives a sign of life, in ms. */
const BEAT = 750;
/** After how long without one a holder counts as gone whose process cannot be asked for, in ms. */
const PATIENCE = 4 * BEAT;
/** The file system's clock may be behind the process's by a tick, in ms. */
const TICK = 1000;

/** The paths of the locks that streams of this thread have. */
const held: Set<string> = new Set();

/** Another stream that has the same series. */
interface Holder {
  readonly path: string;
  readonly process: number;
  /** Whether it is alive; undefined if only its signs of life can tell. */
  readonly isAlive: boolean | undefined;
}

/**
 * The right to write a series: a file beside it whose name tells the process, one for each stream that wants it. A lock
 * that a killed process has left is removed by the next one. No two streams get it, but both may be refused if they ask at
 * the same moment.
 */
export class SeriesLock {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #series: string;
  readonly #path: string;
  #beats: ReturnType<typeof setInterval> | undefined = undefined;
  #isLost = false;

  /** @param prefix The names of the locks of the series begin with it. */
  constructor(directory: string, prefix: string, series: string) {
    this.#directory = directory;
    this.#prefix = prefix;
    this.#series = series;
    this.#path = join(directory, `${prefix}${processSpace()}.${process.pid}-${crypto.randomUUID()}`);
  }

  /** Whether the lock's file is gone: with its folder, or to a stream that took this one for dead. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Takes the lock: at once, unless another machine or container has left a lock, whose signs of life are waited for.
   *
   * @throws {Error} with the code `EBUSY` if another stream has it.
   */
  take(): Promise<void> | undefined {
    this.#make();
    this.#beats = setInterval(() => this.#beat(), BEAT).unref();
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

  /** Lets go of the lock. */
  release(): void {
    clearInterval(this.#beats);
    rmSync(this.#path, { force: true });
    held.delete(this.#path);
  }

  #beat(): void {
    const now = Date.now() / 1000;
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
    held.add(this.#path);
  }

  #others(): Holder[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const path = join(this.#directory, name);
      if (!name.startsWith(this.#prefix) || path === this.#path) return [];
      const [, space, digits] = /^([0-9a-f]{8})\.(\d+)-[0-9a-f-]{36}$/.exec(name.slice(this.#prefix.length)) ?? [];
      if (digits === undefined) return [];
      const id = Number(digits);
      return { path, process: id, isAlive: space === processSpace() ? isHolderAlive(path, id) : undefined };
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
      if (holders.every(({ path }) => lastBeat(path) === undefined)) break;
    }
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

/** Whether a holder in this process space is alive; undefined if another process may have its id by now. */
function isHolderAlive(path: string, id: number): boolean | undefined {
  const isAlive = isProcessAlive(id);
  if (isAlive !== true) return isAlive;
  const age = Date.now() - (lastBeat(path) ?? -Infinity);
  if (id !== process.pid) return age < PATIENCE ? true : undefined;
  if (held.has(path)) return true;
  // An earlier process may have had this one's id: in a container it often has. Other threads may have been terminated.
  return age > process.uptime() * 1000 + TICK ? false : undefined;
}

function lastBeat(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
