import type { RetryOptions } from "../../batch/mod.ts";
import {
  anyOf,
  bool,
  bytes,
  func,
  integer,
  nested,
  number,
  oneOf,
  requireOption,
  schema,
  type SchemaOf,
  text,
} from "../../streams/internal.ts";
import { MAX_TIMER_DELAY } from "../../timers/mod.ts";
import { pathOption } from "../names.ts";
import { isFileName } from "./file_series.ts";

/**
 * The options that {@linkcode RotatingFileWritable} and {@linkcode NumberFileWriter} share.
 *
 * @example Names by a function
 * ```ts
 * import { RotatingFileWritable, type RotationOptions } from "@millrace/streams/files";
 *
 * const options: RotationOptions = {
 *   directory: "volumes",
 *   maxFileSize: 1_000_000,
 *   name: (number) => `volume-${String.fromCharCode(96 + number)}.bin`,
 *   overwrite: true,
 * };
 * await new Blob(["one"]).stream().pipeTo(new RotatingFileWritable(options)); // volumes/volume-a.bin
 * ```
 */
export interface RotationOptions {
  /** The directory of the files, a path or a `file:` URL; created with its ancestors if missing. */
  directory: string | URL;
  /** The maximum size of a file in bytes, above 0. An item that would exceed it begins the next file. */
  maxFileSize: number;
  /**
   * The names of the files: a plain name, which gets the number of the file before its extension (`"primes.txt"`:
   * `primes-00001.txt`, `primes-00002.txt`, …), or a function that gets the number, from 1 on. It must always return
   * the same name for a number, since it is also called to find existing files.
   *
   * @default "part.txt", or "numbers.txt" for numbers
   */
  name?: string | ((number: number) => string);
  /**
   * Whether existing files of the series are replaced. Those not replaced are removed when the stream closes. If false,
   * an existing file is an error before the first write.
   *
   * @default false
   */
  overwrite?: boolean;
  /**
   * Whether a file gets its name only when it is complete and flushed to the disk. After an abort or a failure, the
   * current file is removed.
   *
   * @default false
   */
  atomic?: boolean;
  /**
   * Whether the series continues after an earlier stream, closed or killed: in its last file, or with the next number.
   * Only one stream can then use the series: a second one fails with the code `EBUSY`. The series' record and lock are
   * hidden files beside it. All options below require this one, and a string as `name`.
   *
   * @default false
   */
  append?: boolean;
  /**
   * The interval after which the next write begins another file. `"hour"` and `"day"` are those of UTC; a number of ms
   * is counted in multiples since 1970.
   *
   * @default files end only by their size
   */
  interval?: "hour" | "day" | number;
  /**
   * The maximum number of files of the series, including the current one: older ones are removed.
   *
   * @default Infinity
   */
  maxFiles?: number;
  /**
   * The maximum bytes of all files of the series: the oldest ones are removed, but never the current one.
   *
   * @default Infinity
   */
  maxTotalSize?: number;
  /**
   * The maximum age in ms of a file, counted from its last change. Older ones are removed whenever a new file begins.
   *
   * @default Infinity
   */
  maxAge?: number;
  /**
   * The format that files are compressed to once they are complete, in a worker: `app-00001.log` becomes
   * `app-00001.log.zst`, `.gz` or `.br`.
   *
   * @default files are not compressed
   */
  compress?: "zstd" | "gzip" | "brotli";
  /**
   * The number of retries of a failed write before the stream fails, and the delay in ms between them. Meanwhile
   * further writes wait, and `onWarning` is called once. The stream waits as long for a series that another stream
   * uses.
   *
   * @default 60 retries, a second apart, of transient failures, such as `EMFILE`, `ENOSPC`, `EIO`, `EBUSY` and `EAGAIN`
   */
  retry?: RetryOptions;
  /**
   * Called once for a file that could not be compressed or removed, which is retried with the next file, and once for a
   * write that is retried. An exception in it is a warning of the process.
   *
   * @default `process.emitWarning()`
   */
  onWarning?: (error: Error) => void;
}

type RotationDefault = "name" | "overwrite" | "atomic" | "append" | "maxFiles" | "maxTotalSize" | "maxAge";

export type RotationSchema = SchemaOf<RotationOptions, RotationDefault>;

export const retryOptions: SchemaOf<RetryOptions, "delay"> = /* @__PURE__ */ schema(
  "a series of files",
  () => ({ attempts: number(0, Infinity), delay: number(0, MAX_TIMER_DELAY, 1000) }),
);

export function rotationMembers(defaultName: string): RotationSchema["members"] {
  return {
    directory: pathOption(),
    maxFileSize: integer(1, Number.MAX_SAFE_INTEGER),
    name: anyOf([
      text(undefined, "a plain file name without a path", isFileName),
      func<(number: number) => string>(),
    ], defaultName),
    overwrite: bool(false),
    atomic: bool(false),
    append: bool(false),
    interval: anyOf([oneOf(["hour", "day"]), number(1, Number.MAX_VALUE)]),
    maxFiles: number(1, Infinity, Infinity),
    maxTotalSize: bytes(Infinity, 1),
    maxAge: number(0, Infinity, Infinity),
    compress: oneOf(["zstd", "gzip", "brotli"]),
    retry: {
      ...nested(retryOptions),
      check(value, name) {
        const checked = retryOptions(value as object, `${name}.`);
        return { ...checked, attempts: requireOption(retryOptions, checked, "attempts", `${name}.`) };
      },
    },
    onWarning: func<(error: Error) => void>(),
  };
}

/** The settings of a series with `append`; `interval` is in ms. */
export type ContinuedSettings = Omit<ReturnType<RotationSchema>, "interval"> & {
  readonly interval: number | undefined;
};
