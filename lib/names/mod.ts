/** Detection of content hashes in file names, as build tools write them. @module */
export { hashedNames, likelyHash } from "./hashed_names.ts";
export type { HashedPart } from "./hash_part.ts";
