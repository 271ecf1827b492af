import type { Cache } from "./cache/cache.ts";
import type { Immutability, Selection } from "./selection.ts";
import type { Ledger } from "./ledger.ts";
import type { Settings } from "./options.ts";
import type { Places } from "./places.ts";
import type { Pool, ProgressMeter } from "./pool.ts";
import type { PreviousFiles } from "./tree_files.ts";
import type { Target } from "./target.ts";

/** The dictionary of the site, as deltas need it. */
export interface SiteDictionary {
  /** The absolute path of the file. */
  readonly file: string;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** The state that the steps of a run share. */
export interface Context {
  readonly places: Places;
  readonly settings: Settings;
  readonly selection: Selection;
  /** The source folder, with the files that runs wrote to it; the same as `target` unless files are copied. */
  readonly origin: Target;
  readonly target: Target;
  readonly previous: PreviousFiles | undefined;
  /** The dictionary of the site and its file, once it is there; undefined if there is none. */
  siteDictionary: SiteDictionary | undefined;
  readonly cache: Cache | undefined;
  readonly isImmutable: Immutability;
  readonly ledger: Ledger;
  readonly pool: Pool;
  readonly progress: ProgressMeter;
}
