/**
 * Internals for other folders of this package, not part of the public API.
 *
 * @module
 */
export { ManifestLines } from "./manifest_format.ts";
export { settingsOf } from "./options.ts";
export { isOwnName } from "./own_names.ts";
export { explain } from "./problem.ts";
