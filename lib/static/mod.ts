/**
 * Answers HTTP requests for the files of a folder, from memory and precompressed.
 *
 * @module
 */
export { createStaticHandler, type StaticHandler } from "./create_static_handler.ts";
export type { PrecompressedCoding, StaticHandlerOptions, StaticWarning } from "./options.ts";
export type { StaticStats } from "./site.ts";
