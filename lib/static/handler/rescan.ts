import { type FSWatcher, statSync, watch } from "node:fs";
import { Pause, Timer } from "../../timers/mod.ts";
import type { TreeState } from "../scan/scan_tree.ts";

/** The time in ms without a change after which changes are reported. */
const SETTLING = 100;
/** The longest time in ms that further changes postpone the report. */
const LONGEST_WAIT = 1000;

/** Tells of changes in a folder and in those below it, of many that come together once. */
export class FolderWatch {
  readonly #directory: string;
  readonly #onError: (error: Error) => void;
  #watcher: FSWatcher;
  /** The number of the folder that is watched: another one may get its name. */
  #number: number | undefined;
  /** The time in ms of the first unreported change. */
  #first: number | undefined;
  readonly #timer: Timer;

  /** @throws {Error} what the file system says. */
  constructor(directory: string, onChange: () => void, onError: (error: Error) => void) {
    this.#directory = directory;
    this.#timer = new Timer(() => {
      this.#first = undefined;
      onChange();
    }, { keepsAlive: false });
    this.#onError = onError;
    this.#watcher = this.#open();
  }

  /** Looks at the folder that has the name now, if that is another one than before. */
  renew(): void {
    if (numberOf(this.#directory) === this.#number) return;
    this.#watcher.close();
    this.#watcher = this.#open();
  }

  close(): void {
    this.#watcher.close();
    this.#timer.stop();
  }

  #open(): FSWatcher {
    this.#number = numberOf(this.#directory);
    return watch(this.#directory, { recursive: true }, () => this.#tellSoon()).on("error", this.#onError);
  }

  #tellSoon(): void {
    const now = performance.now();
    this.#first ??= now;
    this.#timer.setDue(Math.min(now + SETTLING, this.#first + LONGEST_WAIT));
  }
}

function numberOf(directory: string): number | undefined {
  return statSync(directory, { throwIfNoEntry: false })?.ino;
}

/** The time in ms without a change after which a folder is scanned, if no file is missing. */
const REST = 500;
/** The longer time if files are missing: a build may be under way, which pauses between its steps. */
const LONG_REST = 3000;
/** The shortest and the longest time between two looks at a folder, in ms. */
const SHORT_PAUSE = 100;
const LONG_PAUSE = 5000;
/** The ratio of the pause after a check to its duration: checks take at most a tenth of a processor. */
const PAUSE_SHARE = 10;
/** The time in ms that a folder is checked after its last change: a deploy may have another step. */
const LINGER = 20_000;
/** The clock of some systems tells whole seconds of a change, in ms. */
const TICK = 1000;

/** The folder that a {@linkcode Succession} is about, and the table that stands for it. */
export interface Served {
  /** Looks at the folder; undefined if that cannot be done now. */
  look(): Promise<TreeState | undefined>;
  /** Names a needed part that a state lacks, in words; undefined if the state may be served. */
  lossOf(state: TreeState | undefined): string | undefined;
  /** Whether all files that are served are there. */
  isComplete(state: TreeState): boolean;
  /** Scans the folder and answers from what is found, if it is in that state; returns whether it is. */
  adopt(state: TreeState): Promise<boolean>;
  /** Called with the reason if the served table stays. */
  keep(loss: string): void;
}

/** The scans after a served file has changed, until the folder is at rest and whole. The old table serves until then. */
export class Succession {
  readonly #served: Served;
  #running: Promise<void> | undefined;
  /** Whether the folder is to be looked at. */
  #isWanted = false;
  #isStopped = false;
  /** The digest of the state that is served, and of the one that was seen last. */
  #adopted = "";
  #last = "";
  #since = 0;
  #pauseMs = SHORT_PAUSE;
  #loss: string | undefined;
  readonly #pause: Pause = new Pause({ keepsAlive: false });

  constructor(served: Served) {
    this.#served = served;
  }

  /** Begins to look at the folder, if that is not under way. */
  begin(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    this.#adopted = "";
    this.#since = performance.now();
    this.#pauseMs = SHORT_PAUSE;
    this.#running ??= this.#run();
    this.#pause.end();
  }

  /** Ends it, as the folder was scanned just now. */
  settle(): void {
    this.#isWanted = false;
    this.#loss = undefined;
    this.#pause.end();
  }

  /** Ends it for good; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.settle();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && (this.#loss !== undefined || performance.now() - this.#since < LINGER)) {
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
    const rest = this.#served.isComplete(state) ? REST : LONG_REST;
    const isAtRest = this.#quietFor(state) >= rest;
    if (isAtRest && this.#isWanted && await this.#served.adopt(state)) this.#adopted = digest;
    else this.#pauseMs = SHORT_PAUSE;
  }

  #miss(loss: string): void {
    if (loss === this.#loss || performance.now() - this.#since < LONG_REST) return;
    this.#loss = loss;
    this.#served.keep(loss);
  }

  /** The time in ms without a change, by the checks or by the file system's clock. */
  #quietFor({ changedMs }: TreeState): number {
    const changed = changedMs % TICK === 0 ? changedMs + TICK : changedMs;
    return Math.max(performance.now() - this.#since, Date.now() - changed);
  }
}
