import { mustBe } from "../language/errors.ts";
import { isAbortSignal, toDictionary } from "../language/webidl.ts";

/**
 * The options of `pipeTo()` and `pipeThrough()`: the platform's type, for projects without the DOM's types.
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
   * Leaves the destination as it is when the source fails.
   *
   * @default {false}
   */
  preventAbort?: boolean;
  /**
   * Leaves the source as it is when the destination fails or closes.
   *
   * @default {false}
   */
  preventCancel?: boolean;
  /**
   * Leaves the destination open when the source ends.
   *
   * @default {false}
   */
  preventClose?: boolean;
  /** Stops the pipe when it is aborted, and ends both streams unless the options above prevent it. */
  signal?: AbortSignal;
}

/** StreamPipeOptions after conversion. */
export interface PipeOptions {
  readonly preventAbort: boolean;
  readonly preventCancel: boolean;
  readonly preventClose: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * @throws {TypeError} if it is no object, or its `signal` no AbortSignal.
 * @see {@link https://streams.spec.whatwg.org/#dictdef-streampipeoptions}
 */
export function toPipeOptions(value: unknown): PipeOptions {
  const options = toDictionary(value, "the pipe's options");
  const preventAbort = Boolean(options.preventAbort);
  const preventCancel = Boolean(options.preventCancel);
  const preventClose = Boolean(options.preventClose);
  const { signal } = options;
  if (signal !== undefined && !isAbortSignal(signal)) throw mustBe("signal", "an AbortSignal");
  return { preventAbort, preventCancel, preventClose, signal };
}
