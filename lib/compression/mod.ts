/**
 * Compression of responses as they are made (pages, JSON, events), and events for many clients, compressed once.
 *
 * @example Compress what a server sends
 * ```ts
 * import { createCompression } from "@millrace/streams/compression";
 * import { createServer } from "node:http";
 *
 * const compression = createCompression();
 * createServer((req, res) => {
 *   compression.node(req, res);
 *   res.setHeader("content-type", "text/plain");
 *   res.end("The mill turns. ".repeat(1000));
 * }).listen(8080);
 * ```
 *
 * @module
 */
export { type Compression, createCompression } from "./create_compression.ts";
export { type ChannelStats, createEventChannel, type EventChannel } from "./events/create_event_channel.ts";
export type { DictionaryOptions, DictionaryRoute } from "./dictionaries/options.ts";
export type { ChannelEvent, EventChannelOptions } from "./events/options.ts";
export type { CompressibleResponse, CompressionOptions } from "./options.ts";
