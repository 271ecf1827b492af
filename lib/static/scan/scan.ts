import type { FoundFiles } from "./found_files.ts";
import type { ManifestTime } from "./manifest_records.ts";
import type { Warn } from "./representation.ts";
import type { Turns } from "./turns.ts";

/** The state that the steps of one scan share. */
export interface Scan {
  /** Contents are at first what the manifest says, in the end what is. */
  readonly found: FoundFiles;
  /** Undefined if there is no manifest. */
  readonly manifest: ManifestTime | undefined;
  /** Paths of files that nothing vouches for. */
  readonly doubted: ReadonlySet<string>;
  readonly warn: Warn;
  readonly turns: Turns;
}
