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
  /** The directory of the files, a path or a `file:` URL; it is made, with those above it, if it is missing. */
  directory: string | URL;
  /** The maximum size of a file in bytes, above 0. An item that would pass it begins the next file. */
  maxFileSize: number;
  /**
   * The names of the files: a plain name, which gets the number of the file before its extension (`"primes.txt"`:
   * `primes-00001.txt`, `primes-00002.txt`, …), or a function that gets the number, from 1 on. It returns the name,
   * always the same for a number: it is called beforehand to find the files that exist.
   *
   * @default "part.txt", or "numbers.txt" of numbers
   */
  name?: string | ((number: number) => string);
  /**
   * Whether files of the series that exist are replaced. Those that are not needed any more are removed when the stream
   * closes. If false, their existence is an error before anything is written.
   *
   * @default false
   */
  overwrite?: boolean;
  /**
   * Whether a file appears under its name only when it is complete, and flushed to the disk. Abort and failure leave
   * nothing of the one that was being written.
   *
   * @default false
   */
  atomic?: boolean;
  /**
   * Whether the series goes on where an earlier stream has stopped, be it closed or killed: in its last file, or with the
   * next number. The series is then one stream's at a time: a second one fails with the code `EBUSY`. Its record and its
   * lock are hidden files beside it. All options below need it, and `name` must be a string.
   *
   * @default false
   */
  append?: boolean;
  /**
   * The length of time after which a file ends: the next write begins another one. `"hour"` and `"day"` end with those of
   * UTC, and as many ms with the multiples of that since 1970.
   *
   * @default files end by their size alone
   */
  interval?: "hour" | "day" | number;
  /**
   * The maximum number of files of the series, the one that is written among them: older ones are removed.
   *
   * @default Infinity
   */
  maxFiles?: number;
  /**
   * The maximum bytes of all files of the series: the oldest ones are removed, but never the one that is written.
   *
   * @default Infinity
   */
  maxTotalSize?: number;
  /**
   * The age in ms, counted from its last change, at which a file is removed. Looked at whenever a file begins.
   *
   * @default Infinity
   */
  maxAge?: number;
  /**
   * The format that files are compressed to once they are complete, in a worker: `app-00001.log` becomes
   * `app-00001.log.zst`, `.gz` or `.br`.
   *
   * @default files stay as they are
   */
  compress?: "zstd" | "gzip" | "brotli";
  /**
   * The number and the delay in ms of further attempts at a failed write, before the stream fails. Meanwhile further
   * writes wait, and `onWarning` is called once. A series that another stream writes is waited for as long.
   *
   * @default 60 times a second apart what passes: `EMFILE`, `ENFILE`, `ENOSPC`, `EDQUOT` and `EIO`
   */
  retry?: RetryOptions;
  /**
   * Called once for a file that could not be compressed or removed, which is tried again with the next file, and when a
   * write is tried again. What this throws is a warning of the process.
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

/** The settings of a series that goes on; `interval` is in ms. */
export type ContinuedSettings = Omit<ReturnType<RotationSchema>, "interval"> & {
  readonly interval: number | undefined;
};
