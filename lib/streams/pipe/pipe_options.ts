import { mustBe } from "../language/errors.ts";
import { isAbortSignal, toDictionary } from "../language/webidl.ts";

/** StreamPipeOptions after conversion. */
export interface PipeOptions {
  readonly preventAbort: boolean;
  readonly preventCancel: boolean;
  readonly preventClose: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Converts a StreamPipeOptions dictionary, reading its members in the order of their names.
 *
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
