import { join } from "node:path";
import type { Ledger } from "./ledger.ts";
import type { Settings } from "./options.ts";
import type { Pool } from "./pool.ts";
import type { FormerFiles } from "./previous.ts";
import type { ProgressMeter } from "./progress.ts";

/** The folders of a run. */
export interface Places {
  /** The folder whose files are compressed. */
  readonly source: string;
  /** The folder that the variants go to: `source`, or that of `out`. */
  readonly target: string;
  /** The former deploy's folder, for deltas. */
  readonly previous: string | undefined;
}

/** What the steps of one run share. */
export interface Context {
  readonly places: Places;
  readonly settings: Settings;
  /** Whether `include` and `exclude` let a path be compressed. */
  readonly isWanted: (path: string) => boolean;
  readonly former: FormerFiles | undefined;
  readonly ledger: Ledger;
  readonly pool: Pool;
  readonly progress: ProgressMeter;
}

/** Whether the files themselves are copied to where the variants go. */
export function isCopying({ source, target }: Places): boolean {
  return source !== target;
}

/** The full path of `path` where the variants go. */
export function targetOf({ places }: Context, path: string): string {
  return join(places.target, path);
}
