/**
 * What other folders of this package use, but users do not see.
 *
 * @module
 */
export { settingsOf } from "./options.ts";
export { explain } from "./problem.ts";
