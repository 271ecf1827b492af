/**
 * What the options of all parts have in common.
 *
 * @module
 */
export { requireKnown } from "./known_options.ts";
