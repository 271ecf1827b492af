import type { Ledger } from "./ledger.ts";
import type { Settings } from "./options.ts";
import type { Pool } from "./pool.ts";
import type { PreviousFiles } from "./previous.ts";
import type { ProgressMeter } from "./progress.ts";
import type { Selection } from "./selection.ts";
import type { SiteDictionary } from "./site/site_dictionary.ts";
import type { Target } from "./target.ts";

/** The folders of a run; real paths. */
export interface Places {
  /** The folder whose files are compressed. */
  readonly source: string;
  /** The folder that the variants go to: `source`, or that of `out`. */
  readonly target: string;
  /** The previous deploy's folder, for deltas. */
  readonly previous: string | undefined;
}

/** What the steps of one run share. */
export interface Context {
  readonly places: Places;
  readonly settings: Settings;
  readonly selection: Selection;
  /** What runs wrote to the source; the same as `target` unless files are copied. */
  readonly origin: Target;
  readonly target: Target;
  readonly previous: PreviousFiles | undefined;
  /** The dictionary of the site and its file, once it is there; undefined if there is none. */
  siteDictionary: SiteDictionary | undefined;
  readonly ledger: Ledger;
  readonly pool: Pool;
  readonly progress: ProgressMeter;
}
