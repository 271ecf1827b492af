import { mustBe } from "../language/errors.ts";
import { isAbortSignal, toDictionary } from "../language/webidl.ts";

/**
 * The options of `pipeTo()` and `pipeThrough()`: the platform's, and `counts`.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-streampipeoptions}
 * @example Several sources into one destination
 * ```ts
 * import { ReadableStream, type StreamPipeOptions, WritableStream } from "@millrace/streams/streams";
 *
 * const more: StreamPipeOptions = { preventClose: true };
 * const printer = new WritableStream<string>({ write: (text) => console.log(text) });
 * await ReadableStream.from(["mill"]).pipeTo(printer, more);
 * await ReadableStream.from(["race"]).pipeTo(printer);
 * ```
 */
export interface StreamPipeOptions {
  /**
   * Whether the destination stays open when the source fails.
   *
   * @default {false}
   */
  preventAbort?: boolean;
  /**
   * Whether the source stays open when the destination fails or closes.
   *
   * @default {false}
   */
  preventCancel?: boolean;
  /**
   * Whether the destination stays open when the source ends.
   *
   * @default {false}
   */
  preventClose?: boolean;
  /** The signal to stop the pipe. Its abort also ends both streams, unless `preventAbort` or `preventCancel` is set. */
  signal?: AbortSignal;
  /** The counters that the pipe increments for each chunk: they are valid after a failure, too. */
  counts?: PipeCounts;
}

/**
 * The numbers of chunks that a pipe has read and written.
 *
 * @example What was stored before a failure
 * ```ts
 * import { type PipeCounts, pipeTo, ReadableStream, WritableStream } from "@millrace/streams/streams";
 *
 * const full = new WritableStream<number>({
 *   write(number) {
 *     if (number === 3) throw new Error("disk full");
 *   },
 * });
 * const counts: PipeCounts = { chunksRead: 0, chunksWritten: 0 };
 * await pipeTo(ReadableStream.from([1, 2, 3, 4]), full, { counts }).catch(() => {});
 * console.log(counts.chunksWritten); // 2
 * ```
 */
export interface PipeCounts {
  /** The number of chunks that the pipe has read from the source. */
  chunksRead: number;
  /** The number of chunks that the destination has written. */
  chunksWritten: number;
}

/** The members of StreamPipeOptions, each read once. The first three keep their type: only their truthiness counts. */
export interface PipeOptions {
  readonly preventAbort: unknown;
  readonly preventCancel: unknown;
  readonly preventClose: unknown;
  readonly signal: AbortSignal | undefined;
  readonly counts: PipeCounts | undefined;
}

/**
 * @param owner The function that refuses unknown options; the standard ignores them.
 * @throws {TypeError} if the value is not an object, or its `signal` is not an AbortSignal.
 * @see {@link https://streams.spec.whatwg.org/#dictdef-streampipeoptions}
 */
export function toPipeOptions(value: unknown, owner?: string): PipeOptions {
  const options = toDictionary(value, "the pipe's options");
  const { preventAbort, preventCancel, preventClose, signal } = options; // in the order of their names
  if (signal !== undefined && !isAbortSignal(signal)) throw mustBe("signal", "an AbortSignal");
  const known = { preventAbort, preventCancel, preventClose, signal, counts: toCounts(options.counts) };
  // Without `schema()`, whose module codecs share: importing them would load all of the streams.
  for (const name in owner ? options : {}) {
    // `Object.prototype` may have enumerable members of a program, which are no options.
    if (Object.hasOwn(known, name) || name in Object.prototype && !Object.hasOwn(options, name)) continue;
    throw new TypeError(`${owner}: unknown option "${name}": use ${Object.keys(known).join(", ")}`);
  }
  return known;
}

function toCounts(value: unknown): PipeCounts | undefined {
  if (value === undefined) return undefined;
  const counts = Object(value) as PipeCounts;
  for (const name of ["chunksRead", "chunksWritten"] as const) {
    const { [name]: count } = counts;
    if (typeof count !== "number" || !Reflect.set(counts, name, count)) {
      throw mustBe(`counts.${name}`, "a number that can be set");
    }
  }
  return counts;
}
