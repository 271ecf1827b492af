/**
 * A destination for the lines of loggers: a series of files that is rotated, limited and compressed. As the target of a
 * pino transport it works in a separate thread; as a stream it takes the lines of pino, a `Console` and others.
 *
 * @example Lines of a logger
 * ```ts
 * import { openLogDestination } from "@millrace/streams/pino";
 *
 * const log = await openLogDestination({ directory: "logs", name: "app.log", maxFileSize: 64_000_000, maxFiles: 10 });
 * log.write(`${JSON.stringify({ level: 30, msg: "started" })}\n`);
 * log.end();
 * ```
 *
 * @module
 */
export {
  type LogDestination,
  type LogDestinationOptions,
  openLogDestination,
  openLogDestination as default,
} from "./log_destination.ts";
