/**
 * Which files' names hold a hash of their content, as build tools name them.
 *
 * @module
 */
export { hashedNames } from "./hashed_names.ts";
export { likelyHash } from "./likely_hash.ts";
export type { HashedPart } from "./tail.ts";
