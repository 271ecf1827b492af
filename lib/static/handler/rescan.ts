import { type FSWatcher, statSync, watch } from "node:fs";
import { Interval, Pause, Timer } from "../../timers/mod.ts";
import type { TreeState } from "../scan/scan_tree.ts";

/** The time in ms without a change after which changes are reported. */
const DEBOUNCE = 100;
/** The longest time in ms that further changes postpone the report. */
const MAX_DEBOUNCE = 1000;

/** The interval in ms at which the folder itself is looked at. */
const LOOK = 1000;
/** The folders below it that are looked at each time, one after the other: 2,000 take Deno 16 ms, and Node 6. */
const MAX_LOOKED = 500;

/**
 * Reports changes in a folder and the folders below it, many at a time as one. What becomes of the folder itself is looked
 * at: Windows reports nothing of one that is renamed, and only an error of one that is removed.
 */
export class FolderWatch {
  readonly #directory: string;
  /** The folders below it that are served, as real paths. */
  readonly #folders: () => readonly string[];
  /** Their identities when each was looked at last. */
  #identities: Map<string, string> = new Map();
  /** The index of the folder that is looked at next. */
  #next = 0;
  readonly #onError: (error: Error) => void;
  /** Undefined from the end of a watcher to the next look: Deno mixes up watchers of one name in between. */
  #watcher: FSWatcher | undefined;
  /** The identity of the watched folder: another folder may get its name. */
  #watched: string | undefined;
  /** The identity of the folder that had the name at the last look. */
  #seen: string | undefined;
  /** The time in ms of the first unreported change. */
  #first: number | undefined;
  readonly #timer: Timer;
  readonly #look: Interval;

  /** @throws {Error} what the file system says. */
  constructor(
    directory: string,
    folders: () => readonly string[],
    onChange: () => void,
    onError: (error: Error) => void,
  ) {
    this.#directory = directory;
    this.#folders = folders;
    this.#timer = new Timer(() => {
      this.#first = undefined;
      onChange();
    }, { keepsAlive: false });
    this.#onError = onError;
    this.#watcher = this.#open();
    this.#hasSwapped();
    this.#look = new Interval(LOOK, () => this.#begin(), { keepsAlive: false });
  }

  /** Has the folder watched that has the name now, if it is another one than before. */
  renew(): void {
    if (identityOf(this.#directory) !== this.#watched) this.#end();
  }

  #end(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Begins to watch what the scan before `renew()` has found, and reports changes since then, which nothing watched. */
  #begin(): void {
    this.#hasMoved();
    if (this.#hasSwapped()) {
      this.#end();
      return this.#tellSoon();
    }
    if (this.#watcher || this.#seen === undefined) return;
    try {
      this.#watcher = this.#open();
      this.#tellSoon();
    } catch (error) {
      this.#look.stop();
      this.#onError(error as Error);
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#timer.stop();
    this.#look.stop();
  }

  #open(): FSWatcher {
    this.#watched = this.#seen = identityOf(this.#directory);
    return watch(this.#directory, { recursive: true }, () => this.#tellSoon()).on("error", (error) => {
      if (!this.#hasMoved()) this.#onError(error);
    });
  }

  /** Whether another folder than the watched one has the name, or none; that is reported as a change. */
  #hasMoved(): boolean {
    const identity = identityOf(this.#directory);
    if (identity !== this.#seen) this.#tellSoon();
    this.#seen = identity;
    return identity !== this.#watched;
  }

  /** Whether a folder has the name of another one: of two renames at once Node reports nothing, nor of what follows. */
  #hasSwapped(): boolean {
    const folders = this.#folders();
    if (this.#next >= folders.length) {
      this.#next = 0;
      const served = new Set(folders);
      for (const folder of this.#identities.keys()) if (!served.has(folder)) this.#identities.delete(folder);
    }
    const looked = folders.slice(this.#next, this.#next += MAX_LOOKED);
    return looked.filter((folder) => this.#isOther(folder)).length > 0;
  }

  #isOther(folder: string): boolean {
    const former = this.#identities.get(folder);
    const identity = identityOf(folder);
    if (identity === undefined) this.#identities.delete(folder);
    else this.#identities.set(folder, identity);
    return identity !== undefined && former !== undefined && identity !== former;
  }

  #tellSoon(): void {
    const now = performance.now();
    this.#first ??= now;
    this.#timer.setDue(Math.min(now + DEBOUNCE, this.#first + MAX_DEBOUNCE));
  }
}

/** Systems give the number of a folder that was removed to the next one that is made. */
function identityOf(directory: string): string | undefined {
  try {
    const { ino, birthtimeNs } = statSync(directory, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/** The time in ms without a change after which a folder is scanned, if no file is missing. */
const SETTLE_TIME = 500;
/** The longer time if files are missing: a build may be running, with pauses between its steps. */
const INCOMPLETE_SETTLE_TIME = 3000;
/** The shortest and the longest time between two looks at a folder, in ms. */
const SHORT_PAUSE = 100;
const LONG_PAUSE = 5000;
/** The ratio of the pause after a check to its duration: checks take at most a tenth of a processor. */
const PAUSE_SHARE = 10;
/** The time in ms that a folder is checked after its last change: a deploy may have another step. */
const RESCAN_WINDOW = 20_000;
/** The resolution of some systems' times of change: whole seconds, in ms. */
const MTIME_RESOLUTION = 1000;

/** The folder that a {@linkcode RescanScheduler} checks, and the table that is served for it. */
export interface Served {
  /** Reads the state of the folder; undefined if that is impossible now. */
  look(): Promise<TreeState | undefined>;
  /** Names a required file that a state lacks, in words; undefined if the state may be served. */
  lossOf(state: TreeState | undefined): string | undefined;
  /** Whether no served file is missing. */
  isComplete(state: TreeState): boolean;
  /** Scans the folder and serves the result, if it still has that state; returns whether it has. */
  adopt(state: TreeState): Promise<boolean>;
  /** Called with the reason if the served table stays. */
  keep(loss: string): void;
}

/** The scans after a served file has changed, until the folder is at rest and whole. The old table serves until then. */
export class RescanScheduler {
  readonly #served: Served;
  #running: Promise<void> | undefined;
  /** Whether the folder is to be checked. */
  #isWanted = false;
  #isStopped = false;
  /** The digests of the served state and of the last one seen. */
  #adopted = "";
  #last = "";
  #since = 0;
  #pauseMs = SHORT_PAUSE;
  #loss: string | undefined;
  readonly #pause: Pause = new Pause({ keepsAlive: false });

  constructor(served: Served) {
    this.#served = served;
  }

  /** Begins to check the folder, unless checks are running. */
  begin(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#adopted = "";
    this.#since = performance.now();
    this.#pauseMs = SHORT_PAUSE;
    this.#running ??= this.#run();
    this.#pause.end();
  }

  /** Ends the checks, as the folder was just scanned. */
  settle(): void {
    this.#isWanted = false;
    this.#loss = undefined;
    this.#pause.end();
  }

  /** Ends the checks for good; resolves when none is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.settle();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && (this.#loss !== undefined || performance.now() - this.#since < RESCAN_WINDOW)) {
      await this.#pause.wait(this.#pauseMs);
      if (!this.#isWanted) break;
      const started = performance.now();
      await this.#look();
      this.#pauseMs = Math.max(this.#pauseMs, PAUSE_SHARE * (performance.now() - started));
    }
    this.#running = undefined;
  }

  async #look(): Promise<void> {
    const state = await this.#served.look();
    const digest = state?.digest ?? "";
    const isNew = digest !== this.#last;
    if (isNew) this.#since = performance.now();
    this.#last = digest;
    this.#pauseMs = isNew ? SHORT_PAUSE : Math.min(2 * this.#pauseMs, LONG_PAUSE);
    if (state && digest === this.#adopted) return;
    const loss = this.#served.lossOf(state);
    if (loss !== undefined || !state) return this.#miss(loss ?? "");
    this.#loss = undefined;
    const rest = this.#served.isComplete(state) ? SETTLE_TIME : INCOMPLETE_SETTLE_TIME;
    const isAtRest = this.#quietFor(state) >= rest;
    if (isAtRest && this.#isWanted && await this.#served.adopt(state)) this.#adopted = digest;
    else this.#pauseMs = SHORT_PAUSE;
  }

  #miss(loss: string): void {
    if (loss === this.#loss || performance.now() - this.#since < INCOMPLETE_SETTLE_TIME) return;
    this.#loss = loss;
    this.#served.keep(loss);
  }

  /** The time in ms without a change, by the checks or by the file system's clock. */
  #quietFor({ changedMs }: TreeState): number {
    const changed = changedMs % MTIME_RESOLUTION === 0 ? changedMs + MTIME_RESOLUTION : changedMs;
    return Math.max(performance.now() - this.#since, Date.now() - changed);
  }
}
