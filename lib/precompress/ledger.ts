import { type FileRecord, type Manifest, manifestName, writeManifest } from "./manifest.ts";
import { explain, type Problem } from "./problem.ts";

/** How often a long run records what it has done, in ms, so that a killed one goes on from there. */
const CHECKPOINT_INTERVAL = 5000;

/** What a run found and did. */
export class Ledger {
  /** What the last run knew, by path. */
  readonly before: Readonly<Record<string, FileRecord>>;
  /** What the manifest will say. */
  readonly records: Map<string, FileRecord>;
  /** Files with new variants; in a dry run, those that lack some. */
  readonly compressed: Set<string> = new Set();
  readonly removed: string[] = [];
  /** Files copied to `out`. */
  readonly copied: string[] = [];
  /** How long each file's variants took to make, in ms of one thread. */
  readonly times: Map<string, number> = new Map();
  readonly problems: Problem[] = [];
  unchanged = 0;
  skipped = 0;

  #folder: string;
  #copied: boolean;
  #nextCheckpoint = performance.now() + CHECKPOINT_INTERVAL;
  #writing: Promise<void> = Promise.resolve();

  /** For the manifest in `folder`; `copied` tells whether the files themselves are copied there. */
  constructor(folder: string, copied: boolean, before: Manifest | undefined) {
    this.#folder = folder;
    this.#copied = copied;
    this.before = before?.files ?? {};
    this.records = new Map(Object.entries(this.before));
  }

  /** Counts in that making a variant of `path` took `ms`. */
  spend(path: string, ms: number): void {
    this.times.set(path, (this.times.get(path) ?? 0) + ms);
  }

  fail(path: string, error: unknown): void {
    this.problems.push({ path, message: explain(error) });
  }

  /** Writes the manifest as it stands; a failure is a problem of the run like others. */
  async close(): Promise<void> {
    await this.#write().catch((error) => this.fail(manifestName, error));
  }

  /** Writes the manifest as it stands, if it can be: {@linkcode close} tells if it never can. */
  async save(): Promise<void> {
    this.#nextCheckpoint = Infinity; // until it is written
    await this.#write().catch(() => {});
    this.#nextCheckpoint = performance.now() + CHECKPOINT_INTERVAL;
  }

  /** {@linkcode save}s if that was not done lately. */
  async checkpoint(): Promise<void> {
    if (performance.now() >= this.#nextCheckpoint) await this.save();
  }

  #write(): Promise<void> {
    const write = () => writeManifest(this.#folder, this.#copied, this.records);
    return this.#writing = this.#writing.then(write, write);
  }
}
