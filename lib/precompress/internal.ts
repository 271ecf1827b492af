/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
export { detailedRun } from "./detailed_run.ts";
export type { LeftAlone } from "./left_alone.ts";
export { toldBy } from "./immutability.ts";
export { ManifestLines } from "./manifest_format.ts";
export { isOwnName } from "./own_names.ts";
export { isWithin } from "./places.ts";
export { explain, explainPlace } from "./problem.ts";
export { typeOf } from "./report.ts";
export { requireSound } from "./require_sound.ts";
export type { RunDetails } from "./run_details.ts";
