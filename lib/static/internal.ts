/**
 * What the command line needs besides the public API, of which this is no part.
 *
 * @module
 */
export { printable } from "./answer/printable.ts";
export { settingsOf } from "./answer/settings.ts";
