/**
 * How `pipeTo()` and `pipeThrough()` treat the ends of a pipe. The platform's type of this name, said here for projects
 * without the DOM's types.
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
  /** Stops the pipe when it is aborted, and both ends with it unless options above say otherwise. */
  signal?: AbortSignal;
}
