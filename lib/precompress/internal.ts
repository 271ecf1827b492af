/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
export { detailedRun } from "./detailed_run.ts";
export type { SkipReason } from "./content.ts";
export { Folder } from "./folder.ts";
export { beginsWithData, generationOf, isReadWhole } from "./formats.ts";
export { levelOptions, precompressOptions, withFolders } from "./options.ts";
export { requireSound, toldBy, UnmatchedError } from "./selection.ts";
export { isOwnName, manifestAt, ManifestLines } from "./manifest.ts";
export { holds, isWithin } from "../files/internal.ts";
export { placesOf, realOf } from "./places.ts";
export { explain, explainPlace } from "./problem.ts";
export { originalsIn, withoutHash } from "./tree_files.ts";
export { typeOf } from "./report.ts";
export type { RunDetails } from "./report.ts";
export { walk } from "./walk.ts";
