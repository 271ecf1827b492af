import { Interval, Pause, Timer } from "../../timers/mod.ts";
import { latestTime } from "../scan/file_content.ts";
import type { TreeState } from "../scan/scan_tree.ts";
import { identityOf, TreeWatcher } from "./tree_watcher.ts";

/** The time in ms without a change after which changes are reported. */
const DEBOUNCE = 100;
/** The maximum time in ms for which further changes postpone the report. */
const MAX_DEBOUNCE = 1000;

/** The interval in ms between checks of the folder itself. */
const LOOK = 1000;
/** The maximum of folders below it in each check, in turn: 2,000 take Deno 16 ms, and Node 6 ms. */
const MAX_LOOKED = 500;

/**
 * Reports changes in a folder and the folders below it, combined. The folder itself is checked at intervals: Windows
 * reports nothing if it is renamed, and only an error if it is removed. Where the system has no watches left, only
 * these checks remain, which detect no changes but replaced folders.
 */
export class FolderWatch {
  readonly #directory: string;
  /** Returns the served folders below it, as real paths. */
  readonly #folders: () => readonly string[];
  /** The folders' identities at the last check of each. */
  #identities: Map<string, string> = new Map();
  /** The index of the folder to check next. */
  #next = 0;
  readonly #onError: (error: Error) => void;
  /** The watcher; undefined between its end and the next check, since Deno confuses watchers of the same name. */
  #watcher: TreeWatcher | undefined;
  /** Whether `onError` was called: once, however many folders the system refuses to watch. */
  #isTold = false;
  /** The identity of the watched folder, since another folder may get its name. */
  #watched: string | undefined;
  /** The identity of the folder that had the name at the last check. */
  #seen: string | undefined;
  /** The time in ms of the first unreported change. */
  #first: number | undefined;
  readonly #onChange: () => Promise<void>;
  /** Whether the last report is being acted on. */
  #isReporting = false;
  /** The time in ms of the next report at the earliest: changes without end take half of a thread at most. */
  #notBefore = 0;
  #isClosed = false;
  readonly #timer: Timer;
  readonly #look: Interval;

  constructor(
    directory: string,
    folders: () => readonly string[],
    onChange: () => Promise<void>,
    onError: (error: Error) => void,
  ) {
    this.#directory = directory;
    this.#folders = folders;
    this.#onChange = onChange;
    this.#timer = new Timer(() => void this.#report(), { keepsAlive: false });
    this.#onError = onError;
    this.#open();
    this.#hasSwapped();
    this.#look = new Interval(LOOK, () => this.#begin(), { keepsAlive: false });
  }

  /** Watches the folder that has the name now, if that is not the watched one, and the folders of the last scan. */
  renew(): void {
    if (identityOf(this.#directory) !== this.#watched) this.#end();
    // No watcher has reported the changes in a folder between its scan and the start of its watcher.
    else if (this.#watcher?.renew(this.#folders())) this.#tellSoon();
  }

  #end(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Starts to watch the folders of the scan before `renew()`, and reports changes since that scan, which no watcher saw. */
  #begin(): void {
    this.#hasMoved();
    if (this.#hasSwapped()) {
      this.#end();
      return this.#tellSoon();
    }
    if (this.#watcher || this.#seen === undefined) return;
    this.#open();
    this.#tellSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    this.#timer.stop();
    this.#look.stop();
  }

  #open(): void {
    this.#watched = this.#seen = identityOf(this.#directory);
    const onError = (error: Error): void => {
      if (this.#isTold || this.#hasMoved()) return;
      this.#isTold = true;
      this.#onError(error);
    };
    this.#watcher = new TreeWatcher(this.#directory, this.#folders(), () => this.#tellSoon(), onError);
  }

  /** Whether the watched folder no longer has the name, which is reported as a change. */
  #hasMoved(): boolean {
    const identity = identityOf(this.#directory);
    if (identity !== this.#seen) this.#tellSoon();
    this.#seen = identity;
    return identity !== this.#watched;
  }

  /** Whether a folder now has another one's name: Node reports neither two simultaneous renames nor later changes. */
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
    if (this.#isReporting || this.#isClosed) return;
    this.#timer.setDue(Math.max(this.#notBefore, Math.min(now + DEBOUNCE, this.#first + MAX_DEBOUNCE)));
  }

  /** Reports the changes so far; those that come meanwhile are reported together, after a pause that is as long. */
  async #report(): Promise<void> {
    this.#first = undefined;
    this.#isReporting = true;
    const started = performance.now();
    try {
      await this.#onChange();
    } finally {
      this.#isReporting = false;
      this.#notBefore = 2 * performance.now() - started;
      if (this.#first !== undefined) this.#tellSoon();
    }
  }
}

/** The time in ms without a change after which a folder is scanned, if no file is missing. */
const SETTLE_TIME = 500;
/** The longer time if files are missing: a build may be running, with pauses between its steps. */
const INCOMPLETE_SETTLE_TIME = 3000;
/** The minimum and the maximum time in ms between two checks of a folder. */
const SHORT_PAUSE = 100;
const LONG_PAUSE = 5000;
/** The ratio of the pause after a check to its duration, so that checks take at most a tenth of a processor. */
const PAUSE_SHARE = 10;
/** The time in ms for which a folder is checked after its last change, since a deploy may have another step. */
const RESCAN_WINDOW = 20_000;

/** The folder that a {@linkcode RescanScheduler} checks, and the table that serves it. */
export interface Served {
  /** Reads the state of the folder; undefined if that is impossible now. */
  look(): Promise<TreeState | undefined>;
  /** Returns the name, in words, of a required file that a state lacks; undefined if the state may be served. */
  lossOf(state: TreeState | undefined): string | undefined;
  /** Whether no served file is missing. */
  isComplete(state: TreeState): boolean;
  /** Scans the folder and serves the result if it still has the given state; returns whether it has. */
  adopt(state: TreeState): Promise<boolean>;
  /** Called with the reason if the served table stays in use. */
  keep(loss: string): void;
}

/** Schedules scans after a served file has changed, until the folder is complete and no longer changes. Until then the old table serves. */
export class RescanScheduler {
  readonly #served: Served;
  #running: Promise<void> | undefined;
  /** Whether the folder is to be checked. */
  #isWanted = false;
  #isStopped = false;
  /** The digests of the served state and of the last observed one. */
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

  /** Ends the checks after a scan of the folder. */
  settle(): void {
    this.#isWanted = false;
    this.#loss = undefined;
    this.#pause.end();
  }

  /** Ends the checks permanently; resolves when none is running. */
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
    const loss = this.#served.lossOf(state) ?? (state ? undefined : "");
    const checkedFor = performance.now() - this.#since;
    if (loss !== undefined || !state) {
      if (loss === this.#loss || checkedFor < INCOMPLETE_SETTLE_TIME) return;
      this.#loss = loss;
      return this.#served.keep(this.#loss!);
    }
    this.#loss = undefined;
    const rest = this.#served.isComplete(state) ? SETTLE_TIME : INCOMPLETE_SETTLE_TIME;
    // The time without a change, by the checks or by the file system's clock.
    const isAtRest = Math.max(checkedFor, Date.now() - latestTime(state.changedMs)) >= rest;
    if (isAtRest && this.#isWanted && await this.#served.adopt(state)) this.#adopted = digest;
    else this.#pauseMs = SHORT_PAUSE;
  }
}
