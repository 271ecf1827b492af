import { LogDestination, type LogDestinationOptions } from "./log_destination.ts";

/** Options that pino and its threads add to those of a target. */
const added = ["$context", "pinoWillSendConfig", "levels", "dedupe"];

/**
 * Opens a series of log files as a `Writable` of `node:stream`, for loggers; pino calls it in a thread of its own for
 * `target: "@millrace/streams/pino"`.
 *
 * The options are those of a `RotatingFileWritable` with `append: true`. Text may come in any pieces: files begin and end
 * with whole lines, but for a line longer than `maxFileSize`.
 *
 * @param options.directory The directory of the files.
 * @param options.maxFileSize Most bytes of a file.
 * @throws {TypeError} if an option is of the wrong type.
 * @throws {RangeError} if a size, a count or a time is none.
 * @throws {Error} why the series cannot be written, with the system's `code`; `EBUSY` if another stream writes it.
 * @example A logger in this thread
 * ```ts
 * import { openLogDestination } from "@millrace/streams/pino";
 * import pino from "pino";
 *
 * const destination = await openLogDestination({ directory: "logs", name: "app.log", maxFileSize: 64_000_000 });
 * const logger = pino(destination);
 * logger.info("started");
 * destination.end();
 * ```
 */
export async function openLogDestination(options: LogDestinationOptions): Promise<LogDestination> {
  const own = Object.fromEntries(Object.entries(options).filter(([name]) => !added.includes(name)));
  const destination = new LogDestination(own as LogDestinationOptions);
  const ignore = (): void => {};
  destination.on("error", ignore); // the promise tells it
  await destination.flush(); // until the series is there
  destination.off("error", ignore);
  return destination;
}
