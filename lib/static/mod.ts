/**
 * Serves the files of a folder over HTTP, from memory and precompressed.
 *
 * @example Serve a folder with node:http
 * ```ts
 * import { createStaticHandler } from "@millrace/streams/static";
 * import { createServer } from "node:http";
 *
 * const site = await createStaticHandler("dist");
 * createServer(site.node).listen(8000);
 * ```
 *
 * @module
 */
export { createStaticHandler, type StaticHandler } from "./handler/create_static_handler.ts";
export type { PrecompressedCoding, StaticHandlerOptions, StaticWarning } from "./answer/options.ts";
export type { StaticStats } from "./handler/site.ts";
