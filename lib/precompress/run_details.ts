import type { LeftAlone } from "./left_alone.ts";
import type { Settings } from "./options.ts";
import type { Places } from "./places.ts";
import type { FileRecord } from "./records.ts";
import type { PrecompressReport } from "./report.ts";

/** The results of a run, and what it knows of each file: for pages about it. */
export interface RunDetails {
  readonly report: PrecompressReport;
  readonly places: Places;
  readonly settings: Settings;
  /** The records of the tree as the manifest has them, by path. */
  readonly records: ReadonlyMap<string, FileRecord>;
  /** The records of the runs before, by path; empty if there was none. */
  readonly before: ReadonlyMap<string, FileRecord>;
  /** Why files got no variants, by path. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
}
