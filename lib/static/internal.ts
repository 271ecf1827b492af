/**
 * What the command line needs besides the public API, of which this is no part.
 *
 * @module
 */
export { settingsOf } from "./settings.ts";
