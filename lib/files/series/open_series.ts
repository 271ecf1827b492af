import { described, requireKnown } from "../../streams/internal.ts";
import { filePath } from "../place.ts";
import { FileSeries } from "./file_series.ts";
import { Rotation } from "./rotation.ts";
import type { RotationOptions } from "./rotation_options.ts";
import { ContinuedRotation } from "./continued_rotation.ts";
import { isSeriesFormat } from "./series_packer.ts";
import type { SeriesWriter } from "./rotation.ts";

const known: Readonly<Record<keyof RotationOptions, true>> = {
  directory: true,
  maxFileSize: true,
  name: true,
  overwrite: true,
  atomic: true,
  append: true,
  interval: true,
  maxFiles: true,
  maxTotalSize: true,
  maxAge: true,
  compress: true,
  retry: true,
  onWarning: true,
};

/** The options of a series that goes on. */
const continuing = ["interval", "maxFiles", "maxTotalSize", "maxAge", "compress", "retry", "onWarning"] as const;

/** A timer of more ms ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;
const HOUR = 3_600_000;
const intervals: Readonly<Record<string, number>> = { hour: HOUR, day: 24 * HOUR };

/**
 * Makes what writes a series, which opens nothing yet.
 *
 * @param others The names of options that the caller takes beside those of a series.
 * @throws {TypeError} if an option is of the wrong type, or none, or does not go with another.
 * @throws {RangeError} if a size, a count or a time is none.
 */
export function openSeries(
  options: RotationOptions,
  defaultName: string,
  others: readonly string[] = [],
): SeriesWriter | ContinuedRotation {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("the options must be an object with a directory and a maxFileSize");
  }
  requireKnown(options, { ...known, ...Object.fromEntries(others.map((name) => [name, true])) }, "a series of files");
  const { directory, maxFileSize, name = defaultName, overwrite = false, atomic = false, append = false } = options;
  if (!Number.isSafeInteger(maxFileSize) || maxFileSize < 1) {
    throw new RangeError(`maxFileSize must be a whole number of bytes above 0, not ${String(maxFileSize)}`);
  }
  const series = new FileSeries(filePath(directory, "directory"), name);
  if (append) return continued(series, options);
  const needy = continuing.find((name) => options[name] !== undefined);
  if (needy !== undefined) throw new TypeError(`${needy} needs append: true: it is for a series that goes on`);
  return new Rotation(series, maxFileSize, overwrite, atomic);
}

function continued(series: FileSeries, options: RotationOptions): ContinuedRotation {
  const { overwrite, atomic, compress, interval } = options;
  if (overwrite) throw new TypeError("append and overwrite exclude each other: choose one");
  if (atomic) throw new TypeError("append and atomic exclude each other: the last file goes on to be written");
  if (series.name === undefined) throw new TypeError("append needs a name that is a string, not a function");
  if (compress !== undefined && !isSeriesFormat(compress)) {
    throw new TypeError(`compress must be "zstd", "gzip" or "brotli", not ${described(compress)}`);
  }
  const { maxFiles, maxTotalSize, maxAge, retry, onWarning } = options;
  requireAbove("maxFiles", maxFiles, 1);
  requireAbove("maxTotalSize", maxTotalSize, 1);
  requireAbove("maxAge", maxAge, 0);
  if (retry !== undefined) {
    if (typeof retry !== "object" || retry === null) {
      throw new TypeError(`retry must be an object with attempts and a delay, not ${described(retry)}`);
    }
    requireAbove("retry.attempts", retry.attempts, 0);
    requireAbove("retry.delay", retry.delay, 0);
    if (retry.delay! > LONGEST_TIMER) throw new RangeError(`retry.delay must be less than 2^31 ms, not ${retry.delay}`);
  }
  if (onWarning !== undefined && typeof onWarning !== "function") {
    throw new TypeError(`onWarning must be a function, not ${described(onWarning)}`);
  }
  const settings = { interval: inMilliseconds(interval), maxFiles, maxTotalSize, maxAge, retry, onWarning };
  return new ContinuedRotation(series, options.maxFileSize, settings, compress);
}

function inMilliseconds(interval: RotationOptions["interval"]): number | undefined {
  const ms = typeof interval === "string" ? intervals[interval] : interval;
  if (interval === undefined || (typeof ms === "number" && ms >= 1 && ms < Infinity)) return ms;
  throw new RangeError(`interval must be "hour", "day" or a number of ms, not ${described(interval)}`);
}

function requireAbove(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return;
  throw new RangeError(`${name} must be a number of at least ${least}, not ${described(value)}`);
}
