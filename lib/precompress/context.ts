import type { Cache } from "./cache/cache.ts";
import type { Settings } from "./options.ts";
import type { SkipReason } from "./content.ts";
import type { Folder } from "./folder.ts";
import type { Places } from "./places.ts";
import type { Pool, ProgressMeter } from "./pool.ts";
import type { FormerRuns } from "./former_runs.ts";
import { explain, type Problem } from "./problem.ts";
import type { FileRecord } from "./records.ts";
import type { Immutability, Selection } from "./selection.ts";
import type { Target } from "./target.ts";
import type { PreviousFiles } from "./tree_files.ts";

/** The state that the steps of a run share. */
export interface Context {
  /** The time of the call that started the run, of `performance.now()`. */
  readonly started: number;
  readonly places: Places;
  readonly settings: Settings;
  readonly selection: Selection;
  readonly origin: FormerRuns;
  /** The earlier runs into the target; the same as `origin` unless files are copied. */
  readonly former: FormerRuns;
  readonly target: Target;
  /** The previous deploys, latest first. */
  readonly previous: readonly PreviousFiles[];
  readonly cache: Cache | undefined;
  readonly isImmutable: Immutability;
  readonly ledger: RunLog;
  readonly pool: Pool;
  readonly progress: ProgressMeter;
  /** The folder in which a dry run makes variants, none of which gets its place. */
  trialIn: Folder | undefined;
}

/** The record of a run's findings and changes. */
export class RunLog {
  /** The records for the manifest: at first, those of earlier runs. */
  readonly records: Map<string, FileRecord>;
  /** Files with new variants; in a dry run, files that lack some. */
  readonly compressed: Set<string> = new Set();
  readonly removed: Set<string> = new Set();
  readonly copied: Set<string> = new Set();
  /** The compressed files that no run wrote, which are used unchanged. */
  readonly found: Set<string> = new Set();
  /** The files of the copy that no run wrote, which are not changed. */
  readonly ready: Set<string> = new Set();
  /** Obsolete files of earlier runs that could not be removed. */
  readonly stuck: Set<string> = new Set();
  /** The files with a problem, or with a problem of a variant. */
  readonly troubled: Set<string> = new Set();
  /** The reasons why files get no variants, by path. */
  readonly leftAlone: Map<string, SkipReason> = new Map();
  readonly problems: Problem[] = [];
  readonly #told = new Set<string>();
  /** The time in ms of one thread that each file's variants took. */
  readonly times: Map<string, number> = new Map();
  /** The dictionary of the site, if there is one: its path, its size in bytes, and a hash of what it was made of. */
  siteDictionary: { readonly path: string; readonly size: number; readonly madeOf: string } | undefined;
  files = 0;
  /** The number of skipped names that begin with a dot. */
  dotfiles = 0;
  unchanged = 0;
  skipped = 0;

  constructor(before: ReadonlyMap<string, FileRecord>) {
    this.records = new Map(before);
  }

  /** Records a problem at `path`, once: with the file of `work`, or with one of its variants. */
  fail(path: string, error: unknown, work?: { readonly file: { readonly path: string } }): void {
    const message = explain(error);
    if (this.#told.has(`${path}\0${message}`)) return;
    this.#told.add(`${path}\0${message}`);
    this.problems.push({ path, message });
    this.troubled.add(work?.file.path ?? path);
  }
}
