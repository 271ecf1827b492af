/**
 * Patterns for paths, such as `assets/*.js`.
 *
 * @module
 */
export { matcherOf } from "./matcher.ts";
