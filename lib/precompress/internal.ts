/**
 * What other folders of this package use, but users do not see.
 *
 * @module
 */
export { ManifestLines } from "./manifest_format.ts";
export { settingsOf } from "./options.ts";
export { isOwnName } from "./own_names.ts";
export { explain } from "./problem.ts";
