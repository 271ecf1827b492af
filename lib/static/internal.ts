/**
 * Exports for the command line. Not part of the public API.
 *
 * @module
 */
export { printable, staticHandlerOptions } from "./answer/options.ts";
export { openStaticHandler } from "./handler/create_static_handler.ts";
export { settingsOf } from "./answer/settings.ts";
