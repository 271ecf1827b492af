/**
 * Which files' names hold a hash of their content, as build tools name them.
 *
 * @module
 */
export { hashedNames, likelyHash } from "./hashed_names.ts";
export type { HashedPart } from "./hash_part.ts";
