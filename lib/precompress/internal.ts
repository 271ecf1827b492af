/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
export { detailedRun } from "./detailed_run.ts";
export type { LeftAlone } from "./left_alone.ts";
export { toldBy } from "./immutability.ts";
export { ManifestLines } from "./manifest_format.ts";
export { settingsOf } from "./options.ts";
export { isOwnName } from "./own_names.ts";
export { isWithin } from "./places.ts";
export { explain } from "./problem.ts";
export { typeOf } from "./report.ts";
export type { RunDetails } from "./run_details.ts";
