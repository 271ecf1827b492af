import { type FSWatcher, statSync, watch } from "node:fs";
import { Pause, Timer } from "../../timers/mod.ts";
import type { TreeState } from "../scan/scan_tree.ts";

/** How long changes may come one after the other before they are told, in ms. */
const SETTLING = 100;
/** How long such changes put that off at most, in ms. */
const LONGEST_WAIT = 1000;

/** Tells of changes in a folder and in those below it, of many that come together once. */
export class FolderWatch {
  readonly #directory: string;
  readonly #onError: (error: Error) => void;
  #watcher: FSWatcher;
  /** The number of the folder that is watched: another one may get its name. */
  #number: number | undefined;
  /** When the first of the changes came that are to be told next, in ms. */
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

/** How long nothing may have changed in a folder that has all files that it had, in ms. */
const REST = 500;
/** The same where files are missing: a build may be under way, which pauses between its steps. */
const LONG_REST = 3000;
/** The shortest and the longest time between two looks at a folder, in ms. */
const SHORT_PAUSE = 100;
const LONG_PAUSE = 5000;
/** How much longer than a look the pause after it is, so that looking takes a tenth of a processor at most. */
const PAUSE_SHARE = 10;
/** How long a folder is looked at after its last change, in ms: a deploy may have another step. */
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
  /** Told that what is served stays, and why. */
  keep(loss: string): void;
}

/**
 * The time between a file that has turned out not to be what was scanned, and the table that knows of it: looks at the
 * folder until it is at rest and lacks nothing that is needed. What was served is served until then.
 */
export class Succession {
  readonly #served: Served;
  #running: Promise<void> | undefined;
  /** Whether the folder is to be looked at. */
  #isWanted = false;
  #isStopped = false;
  /** The digest of the state that is served, and of the one that was seen last. */
  #adopted = "";
  #last = "";
  /** When the last change was seen. */
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

  /** How long nothing has changed, in ms: by what was seen, or by what the file system says. */
  #quietFor({ changedMs }: TreeState): number {
    const changed = changedMs % TICK === 0 ? changedMs + TICK : changedMs;
    return Math.max(performance.now() - this.#since, Date.now() - changed);
  }
}
